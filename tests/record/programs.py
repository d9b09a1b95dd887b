# SPDX-License-Identifier: Apache-2.0
"""What the tests of recorded programs share: a program with probes, and what was recorded of it."""

import json
import os
import pathlib
import shutil
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
                                stdin=subprocess.PIPE)


def told(file):
    return sum(struct.unpack(f"{THREADS}Q", file.read_bytes()))


def go(process):
    process.stdin.write(b"\n")
    process.stdin.flush()


def app_parts(out):
    parts = json.loads((out / "recording.json").read_text())["parts"]
    return [part for part in parts if part["what"] == "application"]


def recorder(out, *words):
    """One that is ready for programs."""
    process = machine.start("-o", out, "--no-state", *words)
    ready = machine.wait_for(lambda: (out / "recording.json").exists() or process.poll() is not None)
    assert ready and process.poll() is None, process.stderr.read()
    return process


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
