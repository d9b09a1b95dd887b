# SPDX-License-Identifier: Apache-2.0
"""The file system that a machine runs in: a tree of files, given to its kernel as an initramfs."""

import lzma
import os
import pathlib
import re
import shutil
import subprocess

INSIDE = pathlib.Path(__file__).resolve().parent / "inside"
FIRMWARE = ("bios-256k.bin", "kvmvapic.bin", "linuxboot_dma.bin", "linuxboot.bin")
FIRMWARE_PLACES = ("/usr/share/qemu", "/usr/share/seabios")


class Tree:
    """A root file system in a folder, laid out as Debian's, with busybox and our init."""

    def __init__(self, folder, busybox):
        self.root = folder
        for name in ("bin", "sbin", "lib", "lib64"):
            (folder / "usr" / name).mkdir(parents=True)
            (folder / name).symlink_to("usr/" + name)
        for name in ("dev", "proc", "sys", "tmp", "run", "root", "etc", "var/lib", "vm"):
            (folder / name).mkdir(parents=True)
        self.write("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
        self.write("/etc/group", "root:x:0:\n")
        shutil.copy(busybox, folder / "bin/busybox")
        self.inside("init", "/init")

    def write(self, path, text):
        place = self._place(path)
        place.write_text(text)
        return place

    def inside(self, name, path):
        """A script of the folder `inside`."""
        self.put(INSIDE / name, path)
        self._place(path).chmod(0o755)

    def put(self, source, path):
        """A file or folder, with the libraries that programs and libraries in it need."""
        source = pathlib.Path(source)
        if source.is_dir():
            shutil.copytree(source, self._place(path), symlinks=True, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("__pycache__"))
            programs = [file for file in source.rglob("*") if file.is_file()]
        else:
            shutil.copy(source, self._place(path))
            programs = [source]
        for library in libraries(programs):
            if not self._place(library).exists():
                shutil.copy(library, self._place(library))

    def put_modules(self, kernel, names):
        """Modules of the kernel and what they depend on, and the order to load them in."""
        files = {normal(path): path for path in sorted(kernel.glob("lib/modules/*/**/*.ko*"))}
        order = []
        for name in names:
            self._put_module(files, name.replace("-", "_"), order)
        self.write("/vm/modules", "".join(f"/vm/module/{name}.ko\n" for name in order))

    def _put_module(self, files, name, order):
        if name in order or name not in files:  # some are part of the kernel itself
            return
        path = files[name]
        image = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        depends = re.search(rb"\0depends=([^\0]*)\0", image)
        for other in depends[1].decode().split(",") if depends and depends[1] else []:
            self._put_module(files, other.replace("-", "_"), order)
        self._place(f"/vm/module/{name}.ko").write_bytes(image)
        order.append(name)

    def put_qemu(self):
        """QEMU as it is installed here, to run a guest."""
        self.put(shutil.which("qemu-system-x86_64"), "/usr/bin/qemu-system-x86_64")
        for name in FIRMWARE:
            for folder in FIRMWARE_PLACES:
                if os.path.exists(f"{folder}/{name}"):
                    self.put(f"{folder}/{name}", f"/usr/share/qemu/{name}")
                    break

    def pack(self, file):
        names = subprocess.run(["find", ".", "-print0"], cwd=self.root, stdout=subprocess.PIPE,
                               check=True).stdout
        with open(file, "wb") as out:
            subprocess.run(["cpio", "--null", "--create", "--format=newc", "--quiet", "--owner=0:0"],
                           cwd=self.root, input=names, stdout=out, check=True)

    def _place(self, path):
        place = self.root / str(path).lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


def normal(module):
    """A module's name as the kernel has it: a file may be called kvm-amd.ko.xz."""
    return module.name.split(".")[0].replace("-", "_")


def libraries(files):
    """The shared libraries that those of the files which are programs load, and the loader itself."""
    programs = [file for file in files if _is_program(file)]
    if not programs:
        return set()
    listed = subprocess.run(["ldd", *programs], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True, check=False).stdout
    return set(re.findall(r"^\t(?:\S+ => )?(/\S+) \(0x", listed, re.MULTILINE))


def _is_program(file):
    with open(file, "rb") as opened:
        return opened.read(4) == b"\x7fELF"
