# SPDX-License-Identifier: Apache-2.0
"""What the tests of recording share: the program, a place for recordings, and a look at tracefs.

A test that waits for what never comes says where, and cleans up, before ctest ends it without a word.
"""

import atexit
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATA = os.environ.get("STRATA_PROGRAM", str(ROOT / "build/release/strata"))
SECONDS = int(os.environ.get("STRATA_TEST_SECONDS", "450"))


def end_with_exception(number, _):
    """So that what is to be cleaned up is, and it shows where that was."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise TimeoutError(f"this test has taken {SECONDS} s") if number == signal.SIGALRM else \
        KeyboardInterrupt(f"signal {number}")


signal.signal(signal.SIGALRM, end_with_exception)
signal.signal(signal.SIGTERM, end_with_exception)
signal.alarm(SECONDS)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def own_mounts():
    """Mounts that a test makes are seen by nobody else and end with it."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_namespace, private = 0x20000, 0x44000  # CLONE_NEWNS, MS_REC | MS_PRIVATE
    if libc.unshare(new_namespace) != 0:
        skip("no mount namespace of its own: " + os.strerror(ctypes.get_errno()))
    libc.mount(b"", b"/", None, private, None)


class Tracefs:
    """The kernel's tracer as everybody else sees it."""

    def __init__(self):
        own_mounts()
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="strata-tracefs-"))
        done = subprocess.run(["mount", "-t", "tracefs", "tracefs", self.path],
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            self.path.rmdir()
            skip("tracefs cannot be mounted: " + done.stderr.strip())

    def instances(self):
        return {entry.name for entry in (self.path / "instances").iterdir()}

    def read(self, name):
        return (self.path / name).read_text()

    def write(self, name, text):
        (self.path / name).write_text(text)

    def close(self):
        # Also where a test has failed and what it started is still at work.
        subprocess.run(["umount", "-l", self.path], check=True)
        self.path.rmdir()


def run(*words, **options):
    return subprocess.run([STRATA, *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, **options)


def fine(*words, **options):
    done = run(*words, **options)
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    return done.stdout


def info(path):
    done = run("info", "--json", path)
    return json.loads(done.stdout)


def events(path, *options):
    return [json.loads(line) for line in fine("dump", "--json", path, *options).splitlines()]


def same_in_trace_cmd(path):
    """Stock trace-cmd, where it is installed, reads as many events from it as we do."""
    if shutil.which("trace-cmd") is None:
        return
    report = subprocess.run(["trace-cmd", "report", path], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
    lines = sum(1 for line in report.splitlines() if not line.startswith("cpus="))
    assert lines == info(path)["events"], (path, lines)


def start(*words):
    """A recorder in the background, which does not outlive the test."""
    recorder = subprocess.Popen([STRATA, "record", *map(str, words)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
    atexit.register(recorder.kill)
    return recorder


def parts(out):
    """The parts that were asked for, as recording.json tells them.

    Where this machine has cgroups with a CPU limit, all recordings have a part about these as well.
    """
    told = json.loads((out / "recording.json").read_text())["parts"]
    return [part for part in told if part["what"] != "cgroups"]


def libc():
    """The C library that this program runs with."""
    maps = pathlib.Path("/proc/self/maps").read_text()
    return next(line.split()[-1] for line in maps.splitlines() if "/libc.so" in line)


def wait_for(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def watchers(folder):
    """Processes that watch over recorders into this folder: forks of those."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text() == "strata-watch\n" \
                    and str(folder) in (entry / "cmdline").read_text():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def stop(recorder):
    recorder.send_signal(signal.SIGINT)
    out, err = recorder.communicate(timeout=60)
    assert recorder.returncode == 0, err
    return out


WRITES = ["-e", "syscalls:sys_enter_pwrite64", "-F", "count == 7"]


class NumberedWrites:
    """The program numbered_writes.py, waiting to be let go; and what was recorded of it."""

    def __init__(self, *arguments):
        program = pathlib.Path(__file__).with_name("numbered_writes.py")
        self.process = subprocess.Popen([sys.executable, "-S", program, *map(str, arguments)],
                                        stdin=subprocess.PIPE)
        self.pid = self.process.pid

    def go(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def wait(self):
        assert self.process.wait(timeout=300) == 0
        self.process.stdin.close()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()

    def recorded(self, path):
        """Positions and times of its writes, in the order of the recording."""
        return [(event["fields"]["pos"], event["ts_ns"])
                for event in events(path, "-e", "sys_enter_pwrite64", "--tid", self.pid)]
