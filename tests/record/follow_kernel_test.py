#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a session records is seen while it does, and compressed while it does. Needs root."""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import machine

CALLS = 3000
LOAD = f"""
import os
for _ in range({CALLS}): os.getppid()
"""


def run_load():
    with subprocess.Popen([sys.executable, "-S", "-c", LOAD]) as load:
        load.wait()
    return load.pid


class Follower:
    """strata dump --follow of a session, and what it has said so far: the loads' calls alone, for a
    busy machine switches between tasks faster than this could read."""

    def __init__(self, folder, name):
        self.path = folder / f"{name}.followed"
        self.read = 0
        self.known = []
        with open(self.path, "wb") as out:
            self.child = subprocess.Popen(
                [machine.STRATA, "dump", "--json", "--follow", name, "-e", "sys_enter_getppid"],
                stdout=out, stderr=subprocess.PIPE, text=True)

    def events(self):
        """Threads and times. Each line is read once."""
        with open(self.path, "rb") as file:
            file.seek(self.read)
            while (line := file.readline()).endswith(b"\n"):
                event = json.loads(line)
                self.known.append((event["tid"], event["ts_ns"]))
                self.read += len(line)
        return self.known

    def calls(self, caller):
        return [time for thread, time in self.events() if thread == caller]

    def end(self):
        _, said = self.child.communicate(timeout=60)
        assert self.child.returncode == 0, said


def followed(folder, *options):
    """As they come, each once and in order, and it ends with the session."""
    out = folder / "follow-session"
    recorder = machine.start("-o", out, "-e", "sys_enter_getppid", "-e", "sched_switch", *options)
    assert machine.wait_for(lambda: list(out.rglob("host.dat"))), recorder.stderr
    early = run_load()
    machine.fine("dump", "--json", "-e", "sys_enter_getppid", out)  # what is there, while it grows
    follower = Follower(folder, "follow-session")
    assert machine.wait_for(lambda: run_load() and follower.events(), 60), "nothing comes"
    late = run_load()
    assert machine.wait_for(lambda: len(follower.calls(late)) == CALLS, 60), \
        len(follower.calls(late))
    assert recorder.poll() is None, "all that while it was recording"
    last = run_load()
    machine.stop(recorder)
    follower.end()
    assert len(follower.calls(last)) == CALLS, len(follower.calls(last))
    assert not follower.calls(early), "what was there before is the past"
    times = [time for _, time in follower.events()]
    assert times == sorted(times)
    assert len(machine.events(out, "-e", "sys_enter_getppid", "--tid", late)) == CALLS


def compressed_meanwhile(folder):
    """What was compressed while it recorded is what would have been at the end."""
    out = folder / "live-compression"
    recorder = machine.start("-o", out, "-e", "sys_enter_getppid", "-e", "sys_exit_getppid",
                             "--compress", "live", "--buffer-size", "64k")
    assert machine.wait_for(lambda: (out / "host.dat").exists()), recorder.stderr
    loads = [run_load() for _ in range(20)]

    def packed():
        return sum(path.stat().st_size for path in out.glob("*.zst"))

    machine.wait_for(lambda: packed() > 0, 180)
    assert packed() > 0
    machine.stop(recorder)
    assert not list(out.glob("*.zst")) and not list(out.glob("*.cpu*"))
    found = collections.Counter(
        (event["tid"], event["event"]) for event in machine.events(out / "host.dat"))
    calls = [found[load, name] for load in loads
             for name in ("sys_enter_getppid", "sys_exit_getppid")]
    assert 0 < max(calls) <= CALLS, calls
    # A ring as small as that overflows where it is not drained in time, and says so.
    told = machine.info(out / "host.dat")
    missing = CALLS * len(calls) - sum(calls)
    assert missing <= told["lost"] or told["lost_unknown"] > 0, (missing, told)
    machine.same_in_trace_cmd(out / "host.dat")


tracefs = machine.Tracefs()
try:
    with tempfile.TemporaryDirectory(prefix="strata-follow-") as name:
        followed(pathlib.Path(name))
    with tempfile.TemporaryDirectory(prefix="strata-follow-") as name:
        followed(pathlib.Path(name), "--max-size", "100M", "--keep", "20s")
    with tempfile.TemporaryDirectory(prefix="strata-follow-") as name:
        compressed_meanwhile(pathlib.Path(name))
    done = machine.run("dump", "--follow", "no-such-session")
    assert done.returncode == 1, done
finally:
    tracefs.close()
