# SPDX-License-Identifier: Apache-2.0
"""One run of an emulated machine: boot, live output, and what it leaves behind."""

import shutil
import subprocess
import sys
import tarfile
import time

STREAMS = ("stdout", "stderr")

# The TSC stays the clock of an emulated processor only if told to, and a busy machine can be too slow
# for the kernel's test of its timer. A kernel that hangs for a minute is given up.
PARAMETERS = ("console=ttyS0 quiet tsc=reliable no_timer_check "
              "watchdog_thresh=30 softlockup_panic=1 panic=-1")


def start(emulator, folder, vmlinuz, cpus, memory, threads):
    """A QEMU that boots `folder`/initramfs and leaves its ports' and its console's text there.

    It does not survive us, however we end. `threads` is multi or single. With a thread a processor,
    one of some seventy boots hung while events were being switched on: both processors, probably over
    code that one changes while the other runs it. With one thread for all, a KVM guest of two
    processors did not come up in seven minutes.
    """
    words = ["setpriv", "--pdeathsig", "KILL", *emulator,
             "-accel", f"tcg,thread={threads},tb-size=512", "-cpu", "max", "-smp", str(cpus),
             "-m", str(memory), "-display", "none", "-vga", "none", "-nodefaults", "-no-reboot",
             "-kernel", str(vmlinuz), "-initrd", str(folder / "initramfs"),
             "-append", PARAMETERS,
             "-serial", f"file:{folder}/console", "-device", "virtio-serial-pci,ioeventfd=off"]
    for name in (*STREAMS, "files"):
        words += ["-chardev", f"file,id={name},path={folder}/{name}",
                  "-device", f"virtserialport,chardev={name},name={name}"]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=open(folder / "qemu", "wb"))


class Output:
    """The command's output, passed on as it comes."""

    def __init__(self, folder):
        self.files = []
        for name in STREAMS:
            (folder / name).touch()
            self.files.append(((folder / name).open("rb"), getattr(sys, name).buffer))

    def pass_on(self):
        for file, out in self.files:
            shutil.copyfileobj(file, out)
            out.flush()


def watch(machine, folder, seconds):
    """Waits until the machine is off; False when the time is over before."""
    output = Output(folder)
    end = time.monotonic() + seconds
    try:
        while machine.poll() is None:
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
            output.pass_on()
        return True
    finally:
        machine.kill()
        machine.wait()
        output.pass_on()


def unpack(folder):
    """The files that the machine sent, as a folder, and the command's exit status, None without."""
    root = folder / "root"
    root.mkdir()
    try:
        with tarfile.open(folder / "files") as archive:
            archive.extractall(root)
        return root, int((root / "vm/status").read_text())
    except (OSError, tarfile.TarError, ValueError):
        return root, None
