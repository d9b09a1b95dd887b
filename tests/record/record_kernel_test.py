#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata record` on the running kernel: what is recorded is what happened, and nothing stays."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

import machine

CALLS, FORKS, BYTES = 2000, 25, 300
LOAD = f"""
import os
for _ in range({CALLS}): os.getppid()
for _ in range({FORKS}):
    child = os.fork()
    if child == 0: os._exit(0)
    os.waitpid(child, 0)
file = os.open(os.devnull, os.O_WRONLY)
for _ in range({CALLS}): os.pwrite(file, b"x" * {BYTES}, 0)
"""


def known_load(folder):
    """A program that does a known number of things gives exactly that many events."""
    out = folder / "load"
    said = machine.fine("record", "--json", "-o", out, "-e", "syscalls:sys_enter_getppid",
                        "-e", "syscalls:sys_exit_getppid", "-e", "sched:sched_process_fork",
                        "-e", "syscalls:sys_enter_pwrite64", "-F", f"count == {BYTES}",
                        "--", sys.executable, "-S", "-c", LOAD)
    recorded = machine.events(out / "host.dat")
    assert json.loads(said)["events"] == len(recorded), (said, len(recorded))
    callers = {e["tid"] for e in recorded if e["event"] == "sys_enter_pwrite64"}
    assert len(callers) == 1, callers
    load = callers.pop()

    def count(name):
        return sum(1 for e in recorded if e["event"] == name and e["tid"] == load)

    assert count("sys_enter_getppid") == CALLS, count("sys_enter_getppid")
    assert count("sys_exit_getppid") == CALLS, count("sys_exit_getppid")
    assert count("sys_enter_pwrite64") == CALLS, count("sys_enter_pwrite64")
    assert count("sched_process_fork") == FORKS, count("sched_process_fork")
    times = [e["ts_ns"] for e in recorded]
    assert times == sorted(times)
    told = machine.info(out)
    assert told["lost"] == 0 and told["lost_unknown"] == 0 and told["time_base"] == "epoch", told
    return out


def owner_only(out):
    for path in [out, *out.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert not list(out.glob("*.cpu*")), "files of pages are left"


def followed_process(folder):
    """-p records a process, and what it starts, and nobody else."""
    script = "import os,sys; sys.stdin.readline()\n" + LOAD
    load = subprocess.Popen([sys.executable, "-S", "-c", script], stdin=subprocess.PIPE)
    out = folder / "followed"
    recorder = machine.start("-o", out, "-p", load.pid, "-e", "syscalls:sys_enter_*")
    assert machine.wait_for(lambda: (out / "host.dat").exists()), recorder.stderr
    load.communicate(b"\n")
    machine.stop(recorder)
    recorded = machine.events(out / "host.dat")
    callers = {e["tid"] for e in recorded}
    calls = sum(1 for e in recorded if e["event"] == "sys_enter_getppid" and e["tid"] == load.pid)
    assert calls == CALLS, calls
    assert len(callers) == FORKS + 1, callers


def side_by_side(folder, tracefs):
    """Two recordings and somebody else's tracing leave each other alone."""
    (tracefs.path / "instances/somebody").mkdir()
    tracefs.write("instances/somebody/events/sched/sched_switch/enable", "1")
    record_cmd = tracefs.read("options/record-cmd")
    one = machine.start("-o", folder / "one", "-e", "sched:sched_switch")
    two = machine.start("-o", folder / "two", "-e", "syscalls:sys_enter_getppid")
    for name in ("one", "two"):
        assert machine.wait_for(lambda: (folder / name / "host.dat").exists())
    assert {"strata-one", "strata-two", "somebody"} <= tracefs.instances()
    sessions = machine.fine("session", "list")
    assert "one" in sessions and "two" in sessions, sessions
    # The same name again is refused.
    again = machine.run("record", "-o", folder / "three", "--name", "one", "--duration", "1s")
    assert again.returncode == 1 and "recording already" in again.stderr, again.stderr
    for _ in range(100):
        os.getppid()
    machine.stop(one)
    machine.fine("session", "stop", "two")
    two.communicate(timeout=60)
    names = {kind["name"] for kind in machine.info(folder / "one/host.dat")["event_types"]}
    assert names == {"sched_switch"}, names
    two_types = machine.info(folder / "two/host.dat")["event_types"]
    assert [kind["name"] for kind in two_types] == ["sys_enter_getppid"], two_types
    assert two_types[0]["count"] >= 100, two_types
    assert tracefs.read("instances/somebody/events/sched/sched_switch/enable").strip() == "1"
    assert tracefs.read("instances/somebody/tracing_on").strip() == "1"
    assert tracefs.read("options/record-cmd") == record_cmd
    assert not {"strata-one", "strata-two"} & tracefs.instances()
    (tracefs.path / "instances/somebody").rmdir()


def full_disk(folder):
    """A disk without room ends the recording with a message; what was written opens."""
    small = folder / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", small], check=True)
    try:
        out = small / "out"
        done = machine.run("record", "-o", out, "--profile", "sched,irq", "-e", "syscalls:*",
                           "--sync", "100ms", "--", sys.executable, "-S", "-c",
                           "import os\nfor _ in range(2000000): os.getppid()")
        assert done.returncode == 1, (done.returncode, done.stderr)
        assert "No space left on device" in done.stderr, done.stderr
        told = machine.info(out)
        assert told["events"] > 10000, told["events"]
    finally:
        subprocess.run(["umount", small], check=True)


def all_parts(folder, tracefs):
    """Probes and counters beside events; all parts on one timeline, and the probes are gone."""
    before = tracefs.read("uprobe_events")
    out = folder / "parts"
    machine.fine("record", "-o", out, "-e", "sched:sched_switch", "--uprobe",
                 machine.libc() + ":getppid", "--counters", "context-switches,minor-faults",
                 "--", sys.executable, "-S", "-c", LOAD)
    description = json.loads((out / "recording.json").read_text())
    parts = {part["what"]: part for part in machine.parts(out)}
    assert set(parts) == {"kernel", "state", "counters"}, parts
    assert all(part["finished"] for part in parts.values()), parts
    told = machine.info(out)
    assert told["time_base"] == "epoch", told["time_base"]
    counts = {kind["name"]: kind["count"] for kind in told["event_types"]}
    assert counts["getppid"] >= CALLS, counts
    assert counts["counters_sched_switch"] > 0, counts
    assert counts["lttng_statedump_process_state"] > 1, counts
    begin, end = (description["sessions"][0][side] for side in ("begin_ns", "end_ns"))
    assert begin <= told["begin_ns"] <= told["end_ns"] <= end, (begin, end, told)
    assert tracefs.read("uprobe_events") == before
    done = machine.run("record", "-o", folder / "none", "--counters", "no-such")
    assert done.returncode == 1 and "context-switches" in done.stderr, done.stderr
    done = machine.run("record", "-o", folder / "none", "--uprobe", machine.libc() + ":no_such")
    assert done.returncode == 1 and "no_such" in done.stderr, done.stderr
    assert not (folder / "none").exists()


def wrong_usage(folder):
    """What cannot be recorded is said, and nothing is left."""
    done = machine.run("record", "-o", folder / "none", "-e", "no:such_event")
    assert done.returncode == 1 and "no:such_event" in done.stderr, done.stderr
    done = machine.run("record", "-o", folder / "none", "--duration", "long")
    assert done.returncode == 2, done.stderr
    done = machine.run("record", "-o", folder / "none", "--profile", "nothing")
    assert done.returncode == 1 and "'nothing'" in done.stderr, done.stderr
    done = machine.run("record", "-o", folder / "none", "--clock", "sundial", "--duration", "1s")
    assert done.returncode == 1 and "sundial" in done.stderr, done.stderr
    assert not (folder / "none").exists()


tracefs = machine.Tracefs()
with tempfile.TemporaryDirectory(prefix="strata-record-") as name:
    folder = pathlib.Path(name)
    try:
        out = known_load(folder)
        owner_only(out)
        machine.same_in_trace_cmd(out / "host.dat")
        followed_process(folder)
        side_by_side(folder, tracefs)
        full_disk(folder)
        all_parts(folder, tracefs)
        wrong_usage(folder)
        # Others may be recording meanwhile: only what this test made counts.
        own = {"strata-" + path.name for path in folder.rglob("*")}
        assert not own & tracefs.instances(), tracefs.instances()
    finally:
        tracefs.close()
