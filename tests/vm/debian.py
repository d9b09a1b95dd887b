# SPDX-License-Identifier: Apache-2.0
"""What the machines are made of, from Debian's packages, each unpacked once into a folder of its own.

Nothing is installed: apt has a configuration, lists and a cache that are private to that folder, so
none of it needs root. Removing the folder has everything made again from what Debian offers then.
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import tempfile

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "strata-vm"

# The kernels of Debian 12 by their series: its own, and that of the next release.
SUITES = {"6.1": "bookworm", "6.12": "bookworm-backports"}
MIRROR = "http://deb.debian.org/debian"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"

# Debian 12's QEMU emulates an instruction that 6.12 uses wrongly (flags after a cmpxchg), and nine of
# ten boots crash. The one from backports runs with the libraries of Debian 12's.
NEWER_QEMU = ("qemu-system-x86", "qemu-system-common", "qemu-system-data")


class Unavailable(Exception):
    """This machine cannot make or run such a machine; the text says why."""


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise Unavailable(f"{program} is not installed (scripts/install-deps check)")


def kernel(series):
    """The folder with boot/vmlinuz-* and lib/modules/* of Debian's cloud kernel."""
    def meta(packages):
        return packages.dependency("linux-image-cloud-amd64")
    return _made(f"linux-{series}", SUITES[series], lambda packages: [meta(packages)])


def busybox():
    """A shell and the usual commands in one file that needs no library."""
    return _made("busybox", "bookworm", lambda packages: ["busybox-static"]) / "bin/busybox"


def emulator(series):
    """The words that start a QEMU which emulates this kernel well."""
    need("qemu-system-x86_64")
    if series == "6.1":
        return ["qemu-system-x86_64"]
    root = _made("qemu", SUITES[series], lambda packages: NEWER_QEMU)
    program = root / "usr/bin/qemu-system-x86_64"
    missing = [line.split()[0] for line in _output("ldd", program).splitlines() if "not found" in line]
    if missing:
        raise Unavailable(f"QEMU from {SUITES[series]} lacks here: {', '.join(missing)}")
    places = (root / "usr/share/qemu", "/usr/share/seabios", "/usr/lib/ipxe/qemu")
    return [str(program), *(word for place in places for word in ("-L", str(place)))]


def _made(name, suite, choose):
    """The folder of this name in the cache, made of the chosen packages unless it is there."""
    folder = CACHE / name
    if folder.is_dir():
        return folder
    need("apt-get", "dpkg-deb")
    CACHE.mkdir(parents=True, exist_ok=True)
    with _lock(), tempfile.TemporaryDirectory(prefix="making-", dir=CACHE) as making:
        if folder.is_dir():  # somebody else made it meanwhile
            return folder
        packages = _Packages(pathlib.Path(making), suite)
        packages.unpack(choose(packages), pathlib.Path(making) / "root")
        (pathlib.Path(making) / "root").rename(folder)
    return folder


@contextlib.contextmanager
def _lock():
    with open(CACHE / "lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class _Packages:
    """The packages of one suite of Debian."""

    def __init__(self, folder, suite):
        self.folder = folder
        signed = f"[signed-by={KEYS}] " if os.path.exists(KEYS) else ""
        (folder / "sources.list").write_text(f"deb {signed}{_mirror()} {suite} main\n")
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        self.options = [f"-oDir::Etc::sourcelist={folder}/sources.list", "-oDir::Etc::sourceparts=-",
                        f"-oDir::State::lists={folder}/lists", f"-oDir::Cache={folder}/cache",
                        "-oAPT::Sandbox::User=root", "-oAcquire::Retries=3",
                        "-oAcquire::http::Timeout=30"]
        self._apt("apt-get", "update", "--error-on=any")

    def dependency(self, package):
        """The package that this one, of no contents, stands for."""
        for line in self._apt("apt-cache", "depends", package).splitlines():
            if line.strip().startswith("Depends: linux-image-"):
                return line.split()[1]
        raise Unavailable(f"{package} stands for no kernel")

    def unpack(self, packages, root):
        self._apt("apt-get", "download", *packages)
        for archive in self.folder.glob("*.deb"):
            _output("dpkg-deb", "-x", archive, root)

    def _apt(self, tool, *words):
        return _output(tool, "-qq", *self.options, *words, cwd=self.folder)


def _mirror():
    """Where this machine has its own packages from, if that is Debian 12."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(RELEASE) $(REPO_URI)",
                           "Created-By: Packages"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    for line in done.stdout.splitlines():
        words = line.split()
        if words[:2] == ["Debian", "bookworm"]:
            return words[2]
    return MIRROR


def _output(*words, **options):
    done = subprocess.run([*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **options)
    if done.returncode != 0:
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Unavailable(f"{words[0]}: {reason[-1] if reason else done.returncode}")
    return done.stdout
