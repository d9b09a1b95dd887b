#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recorder that is killed at any moment leaves a folder that opens, and nothing in the kernel."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import machine

# STRATA_KILLS sets how often; the seed is printed so that a failure can be had again.
KILLS = int(os.environ.get("STRATA_KILLS", "9"))
SEED = int(os.environ.get("STRATA_SEED", str(random.randrange(1 << 30))))
# How much longer than on a real machine everything takes: an emulated one is slow.
PACE = int(os.environ.get("STRATA_PACE", "1"))


def gone(tracefs, folder):
    """One second after the kill nothing of the recorder is left. Others may record meanwhile."""
    def left():
        probes = tracefs.read("uprobe_events").splitlines()
        return {"strata-killed"} & tracefs.instances() \
            or [probe for probe in probes if "strata_killed/" in probe] or machine.watchers(folder)

    assert machine.wait_for(lambda: not left(), seconds=PACE), left()


def restored(folder, events):
    """Stock trace-cmd takes the unfinished form."""
    if shutil.which("trace-cmd") is None:
        return
    out = folder.parent / "restored.dat"
    pages = sorted(folder.glob("host.dat.cpu*"), key=lambda path: int(path.name.split("cpu")[1]))
    subprocess.run(["trace-cmd", "restore", "-i", folder / "host.dat", "-o", out, *pages],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert machine.info(out)["events"] == events
    out.unlink()


def kill_once(folder, tracefs, chance, number):
    finishing = number % 3 == 2
    recorder = machine.start("-o", folder, "--name", "killed", "--sync", "200ms", "--profile",
                             "sched", "-e", "syscalls:*", "--uprobe", machine.libc() + ":getpid",
                             *(["--duration", f"{600 * PACE}ms"] if finishing else []))
    delay = chance.uniform(0.6, 0.9) if finishing else chance.uniform(0.0, 1.2)
    time.sleep(delay * PACE)
    recorder.send_signal(signal.SIGKILL)
    recorder.communicate()
    gone(tracefs, folder)
    if not (folder / "recording.json").exists():
        return "before anything was written"
    if not (folder / "host.dat").exists():
        assert machine.info(folder)["events"] == 0
        return "before the head was written: opens as empty"
    told = machine.run("info", "--json", folder)
    assert told.returncode == 0, told.stderr
    events = machine.info(folder / "host.dat")["events"]
    unfinished = bool(list(folder.glob("host.dat.cpu*")))
    if unfinished:
        restored(folder, events)
    machine.fine("recover", folder)
    again = machine.info(folder / "host.dat")
    assert again["events"] == events, (again["events"], events)
    assert not list(folder.glob("host.dat.cpu*"))
    return f"{events} events, {'unfinished' if unfinished else 'finished'}"


tracefs = machine.Tracefs()
chance = random.Random(SEED)
print(f"STRATA_SEED={SEED}")
load = subprocess.Popen([sys.executable, "-S", "-c", "import os\nwhile True: os.getppid()"])
try:
    with tempfile.TemporaryDirectory(prefix="strata-killed-") as name:
        for number in range(KILLS):
            print(number, kill_once(pathlib.Path(name) / str(number), tracefs, chance, number))
finally:
    load.kill()
    load.wait()
    tracefs.close()
