# SPDX-License-Identifier: Apache-2.0
"""What the tests of recorded programs share: a program with probes, and what was recorded of it."""

import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import tempfile

import machine

LIBRARY = pathlib.Path(machine.STRATA).parent / "src/probe/libstrata-probe.a"
THREADS = 8


def own_socket():
    """A folder of the test's own where programs ask for rings: others may record meanwhile."""
    machine.own_mounts()
    pathlib.Path("/run/strata").mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/strata"], check=True)


def build(folder, name):
    """The program of that name, with probes, compiled."""
    source = pathlib.Path(__file__).with_name(f"{name}.c")
    subprocess.run(["gcc", "-std=gnu11", "-O2", f"-I{machine.ROOT / 'include'}", source, LIBRARY,
                    "-pthread", "-o", folder / name], check=True)
    return folder / name


class Emitter:
    """emitter.c, compiled; and the file in which one tells what it has done."""

    def __init__(self, folder):
        self.program = build(folder, "emitter")
        self.folder = folder
        self.files = 0

    def file(self):
        self.files += 1
        path = self.folder / f"told{self.files}"
        path.write_bytes(bytes(8 * THREADS))
        return path

    def start(self, file, *words, wait=False, **variables):
        environment = dict(os.environ, **variables)
        if wait:
            environment["WAIT"] = "1"
        return subprocess.Popen([self.program, file, *map(str, words)], env=environment,
                                cwd=self.folder, stdin=subprocess.PIPE)


def told(file):
    return sum(struct.unpack(f"{THREADS}Q", file.read_bytes()))


def go(process):
    process.stdin.write(b"\n")
    process.stdin.flush()


def app_parts(out):
    return [part for part in machine.parts(out) if part["what"] == "application"]


def recorder(out, *words):
    """One that is ready for programs."""
    process = machine.start("-o", out, "--no-state", *words)
    ready = machine.wait_for(lambda: (out / "recording.json").exists() or process.poll() is not None)
    assert ready and process.poll() is None, process.stderr.read()
    return process


class Flight:
    """A flight recorder of a program, in the background."""

    def __init__(self, out, emitter, *words):
        self.out = out
        self.process = machine.start("--flight", "-o", out, "--no-state", "--json", "--app",
                                     emitter.program, *words)

    def __enter__(self):
        # It answers when it records.
        ready = lambda: self.process.poll() is not None or machine.run(
            "session", "snapshot", self.out.name, "-o", f"{self.out}-first").returncode == 0
        assert machine.wait_for(ready) and self.process.poll() is None, self.process.communicate()
        return self

    def snapshot(self, name):
        folder = self.out.with_name(f"{self.out.name}-{name}")
        return folder, json.loads(machine.fine("session", "snapshot", self.out.name, "--json", "-o",
                                               folder))

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)


def kept(trace):
    """Events in a CTF trace; Babeltrace 1 and 2, where they are there, find as many."""
    events = machine.info(trace)["events"]
    for reader in ("babeltrace", "babeltrace2"):
        if shutil.which(reader) is None:
            continue
        done = subprocess.run([reader, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors="replace")
        assert done.returncode == 0, (reader, done.stderr)
        assert done.stdout.count("\n") == events, (reader, done.stdout.count("\n"), events)
    return events


def kill(process):
    process.kill()
    process.communicate()


def counts(out, name="app-emitter"):
    """Events that were kept of a program, and that were lost."""
    parts = [part for part in app_parts(out) if part["file"] == name]
    if not parts:
        return 0, 0
    (part,) = parts
    assert part["lost_unknown"] == 0, part
    return kept(out / name), part["lost"]


def wait_for_written(out, events):
    """Until so many are in the files."""
    trace = out / "app-emitter"
    assert machine.wait_for(lambda: (trace / "metadata").exists() and
                            machine.info(trace).get("events", 0) >= events, 60)


def wait_for_told(file, more):
    reached = told(file) + more
    assert machine.wait_for(lambda: told(file) >= reached, 60), told(file)


def core_of(process, folder):
    """It ends, and leaves a core file in the folder where it runs. None: core files go elsewhere."""
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith("|") or "/" in pattern:
        print("core files go elsewhere: recovering from one was not tried")
        process.kill()
        process.wait()
        return None
    resource.prlimit(process.pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
    process.send_signal(signal.SIGABRT)
    assert process.wait() == -signal.SIGABRT
    (core,) = folder.glob("core*")
    return core.rename(folder / f"taken-{process.pid}")


def run(*tests):
    """Each with a folder and a compiled emitter; where they cannot be, the test is skipped."""
    if os.geteuid() != 0:
        machine.skip("only root may switch probes on by the kernel")
    if not LIBRARY.exists() or not shutil.which("gcc"):
        machine.skip("libstrata-probe is not built, or there is no gcc")
    own_socket()
    with tempfile.TemporaryDirectory(prefix="strata-app-") as name:
        folder = pathlib.Path(name)
        emitter = Emitter(folder)
        for test in tests:
            test(folder, emitter)
