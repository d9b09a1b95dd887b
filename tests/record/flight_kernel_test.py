#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata record --flight` on the running kernel: a snapshot is what happened last, and taking it
changes nothing."""

import bisect
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import machine

# A pipe between two processes: switches and wake-ups without end, a hundred and then a rest.
LOAD = """
import os, sys, time
there, back = os.pipe(), os.pipe()
if os.fork() == 0:
    while True: os.write(back[1], os.read(there[0], 1) or os._exit(0))
while True:
    for _ in range(100): os.write(there[1], b"x"); os.read(back[0], 1)
    time.sleep(float(sys.argv[1]))
"""
EVENTS = ["-e", "sched:sched_switch", "-e", "sched:sched_waking"]


class Load:
    def __init__(self, rest=0):
        self.rest = rest

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-S", "-c", LOAD, str(self.rest)],
                                        process_group=0)
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def own_events(self):
        """Its switches and wake-ups, and nobody else's."""
        pid = self.process.pid
        return ["-e", "sched:sched_switch", "-F", f"prev_pid == {pid} || next_pid == {pid}",
                "-e", "sched:sched_waking", "-F", f"pid == {pid}"]


class Flight:
    """A flight recorder in the background."""

    def __init__(self, folder, *words, way=None):
        self.folder, self.name = folder, folder.name
        environment = dict(os.environ, **({"STRATA_FLIGHT_WAY": way} if way else {}))
        self.process = subprocess.Popen(
            [machine.STRATA, "record", "--flight", "-o", folder, "--json", *map(str, words)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def __enter__(self):
        assert machine.wait_for(self.answers), self.process.communicate()
        return self

    def answers(self):
        listed = json.loads(machine.fine("session", "list", "--json"))
        return self.process.poll() is not None or any(
            entry["name"] == self.name and entry["flight"] for entry in listed) and \
            machine.run("session", "snapshot", self.name, "-o",
                        self.folder.parent / (self.name + "-first")).returncode == 0

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def snapshot(self, name=None):
        words = ["-o", self.folder.parent / name] if name else []
        return json.loads(machine.fine("session", "snapshot", self.name, "--json", *words))

    def begin_ns(self):
        """When the session began."""
        listed = json.loads(machine.fine("session", "list", "--json"))
        return next(entry["begin_ns"] for entry in listed if entry["name"] == self.name)

    def folders(self):
        """Snapshots that are whole, in their order."""
        return sorted(path.parent for path in self.folder.glob("*/recording.json"))

    def land(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err
        return json.loads(out)


def by_cpu(path):
    """The events of each CPU, as times and all the rest of them."""
    cpus = {}
    for event in machine.events(path / "host.dat"):
        times, events = cpus.setdefault(event["cpu"], ([], []))
        times.append(event.pop("ts_ns"))
        del event["comm"], event["trace"]  # as known when it was saved; the file
        events.append(event)
    return cpus


def cause(path):
    description = json.loads((path / "recording.json").read_text())
    return description["sessions"][0]["changes"][-1]["what"]


def two_snapshots(folder):
    """A second apart, both hold the full window, and where they overlap they are the same."""
    # Slow enough for the rings to reach back to the first one, however long saving it takes, and
    # whatever else this machine does.
    with Load(rest=0.02) as load, Flight(folder / "two", *load.own_events(), "--buffer-size",
                                         "16M") as flight:
        # On a busy machine it takes the load a while to begin.
        looks = itertools.count()
        assert machine.wait_for(lambda: flight.snapshot(f"two-{next(looks)}")["events"] > 2000, 60)
        time.sleep(1)
        first = flight.snapshot("two-a")
        time.sleep(1)
        second = flight.snapshot("two-b")
        told = flight.land()
    if first["way"] != "mapped":
        assert second["begin_ns"] >= first["end_ns"], (first, second)
        return
    assert told["snapshots"] >= 3 and told["left_out"] == 0, told
    one, two = by_cpu(folder / "two-a"), by_cpu(folder / "two-b")
    assert first["events"] == sum(len(events) for _, events in one.values()), first
    assert second["events"] == sum(len(events) for _, events in two.values()), second
    overlapping = 0
    for cpu, (old_times, old) in one.items():
        new_times, new = two[cpu]
        assert old_times == sorted(old_times) and new_times == sorted(new_times)
        # The line to the time of day is another one, to some nanoseconds.
        at = bisect.bisect_left(old_times, new_times[0] - 1000)
        begin = bisect.bisect_left(new_times, old_times[0] - 1000)
        assert old[at:] == new[begin:begin + len(old) - at], cpu
        overlapping += len(old) - at
    assert overlapping > 1000, (first, second)
    # Nothing was consumed: the second one begins before the first one ended.
    assert second["begin_ns"] < first["end_ns"] < second["end_ns"], (first, second)
    for saved, path in ((first, folder / "two-a"), (second, folder / "two-b")):
        info = machine.info(path)
        assert info["lost"] == 0 and info["lost_unknown"] == 0, info
        assert info["time_base"] == "epoch"
        assert info["end_ns"] > saved["begin_ns"], (info, saved)
        description = json.loads((path / "recording.json").read_text())
        assert all(part["finished"] for part in description["parts"]), description
        assert {part["what"] for part in machine.parts(path)} == {"kernel", "state"}
    same_in_trace_cmd(folder / "two-a", first["events"])
    assert not (folder / "two").exists(), "a folder without a snapshot is left"


def overwritten(folder):
    """Of a ring that has been written over many times, the last part is whole."""
    with Load(), Flight(folder / "over", *EVENTS, "--buffer-size", "1M") as flight:
        assert machine.wait_for(lambda: flight.snapshot()["begin_ns"] > flight.begin_ns() + 10**9)
        flight.land()
    path = flight.folders()[-1]
    told = machine.info(path / "host.dat")
    assert told["events"] > 1000 and told["lost"] == 0 and told["lost_unknown"] == 0, told
    for times, _ in by_cpu(path).values():
        assert times == sorted(times)


def same_in_trace_cmd(path, events):
    if shutil.which("trace-cmd") is None:
        return
    report = subprocess.run(["trace-cmd", "report", path / "host.dat"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
    theirs = [line for line in report.splitlines() if not line.startswith("cpus=")]
    assert len(theirs) == events, (len(theirs), events)


def calls_of(path, thread):
    return len(machine.events(path / "host.dat", "--tid", thread))


def known_load(folder):
    """Every event is there, once, however often snapshots are taken meanwhile."""
    script = "import os, time\nfor i in range(2000): os.getppid(); time.sleep(0.0005)"
    with Flight(folder / "known", "-e", "syscalls:sys_enter_getppid") as flight:
        child = subprocess.Popen([sys.executable, "-S", "-c", script])
        saved = []
        while child.poll() is None:
            saved.append(flight.snapshot(f"known-{len(saved)}"))
        saved.append(flight.snapshot(f"known-{len(saved)}"))
        flight.land()
    calls = [calls_of(pathlib.Path(each["folder"]), child.pid) for each in saved]
    assert all(each["lost"] == 0 for each in saved), saved
    # Nothing is taken out, or each is in one of them and they follow one another without a gap.
    total = calls[-1] if saved[0]["way"] == "mapped" else sum(calls)
    assert total == 2000, calls
    assert saved[0]["way"] != "mapped" or calls == sorted(calls), calls


def on_signal(folder):
    with Flight(folder / "signal", "-e", "sched:sched_switch") as flight:
        flight.process.send_signal(signal.SIGUSR1)
        assert machine.wait_for(flight.folders)
        flight.land()
    (path,) = flight.folders()
    assert cause(path) == "snapshot: SIGUSR1", cause(path)
    assert machine.info(path)["events"] > 0


def on_event(folder):
    """When the event happens, and not before; what comes in quick succession is counted."""
    script = "import os, sys\nsys.stdin.readline()\nfor i in range(20): os.pwrite(1, b'', 4242)"
    with Flight(folder / "event", "-e", "syscalls:sys_enter_pwrite64", "--after", "200ms",
                "--snapshot-on", "syscalls:sys_enter_pwrite64 pos == 4242") as flight:
        with open(os.devnull, "w") as null:
            child = subprocess.Popen([sys.executable, "-S", "-c", script], stdin=subprocess.PIPE,
                                     stdout=null)
            os.pwrite(null.fileno(), b"", 4241)
            time.sleep(0.5)
            assert not flight.folders()
            child.communicate(b"\n")
        assert machine.wait_for(flight.folders)
        told = flight.land()
    (path,) = flight.folders()
    assert told["left_out"] == 19, told
    assert cause(path) == "snapshot: syscalls:sys_enter_pwrite64 pos == 4242", cause(path)
    # Those after the trigger too: that is what --after is for.
    assert calls_of(path, child.pid) == 20


def on_latency(folder):
    """A thread that sleeps longer than it should; not one that sleeps less."""
    sleep = "latency(syscalls:sys_enter_clock_nanosleep, syscalls:sys_exit_clock_nanosleep) > 400ms"
    with Flight(folder / "slow", "-e", "sched:sched_switch", "--snapshot-on", sleep) as flight:
        # Others on this machine may sleep too: it is about who is told of.
        quick = subprocess.run([sys.executable, "-S", "-c", "import time, os; print(os.getpid());"
                                "time.sleep(0.01)"], stdout=subprocess.PIPE, text=True)
        slow = subprocess.Popen([sys.executable, "-S", "-c", "import time\n"
                                 "while True: time.sleep(0.6)"])
        told_of = f"thread {slow.pid} took "
        found = machine.wait_for(lambda: any(told_of in cause(path) for path in flight.folders()), 30)
        slow.kill()
        slow.wait()
        assert found, [cause(path) for path in flight.folders()]
        flight.land()
    quick_thread = f"thread {quick.stdout.strip()} took"
    assert not any(quick_thread in cause(path) for path in flight.folders())


def stopped(folder):
    """Without mapping: the rings are emptied, and the gap is told."""
    with Load(), Flight(folder / "stopped", *EVENTS, way="stopped") as flight:
        time.sleep(0.2)
        first = flight.snapshot("stopped-a")
        time.sleep(0.2)
        second = flight.snapshot("stopped-b")
        flight.land()
    assert first["events"] > 0 and second["events"] > 0
    assert second["begin_ns"] >= first["end_ns"], (first, second)
    for name, saved in (("stopped-a", first), ("stopped-b", second)):
        assert machine.info(folder / name / "host.dat")["events"] == saved["events"], saved
    last = machine.events(folder / "stopped-a/host.dat")[-1]["ts_ns"]
    assert machine.events(folder / "stopped-b/host.dat")[0]["ts_ns"] > last
    description = json.loads((folder / "stopped-b/recording.json").read_text())
    changes = [change["what"] for change in description["sessions"][0]["changes"]]
    full = first["end_ns"] < second["begin_ns"] - 10**9  # it had been overwritten meanwhile
    assert full or "nothing was recorded for" in changes[0], changes


def killed(folder, tracefs):
    with Load(), Flight(folder / "killed", *EVENTS, "--snapshot-on",
                        "latency(sched_waking, sched_switch) > 10s") as flight:
        assert "strata-killed" in tracefs.instances()
        flight.process.kill()
        flight.process.communicate()
        assert machine.wait_for(lambda: "strata-killed" not in tracefs.instances())
        assert machine.wait_for(lambda: not machine.watchers(folder / "killed"))


def wrong_usage(folder):
    for words, status, text in (
            (["--snapshot-on", "sched_switch"], 2, "--flight"),
            (["--flight", "--after", "5s"], 2, "--snapshot-on"),
            (["--flight", "--counters", "page-faults"], 2, "--counters"),
            (["--flight", "--snapshot-on", "latency(a, b)"], 2, "'>'"),
            (["--flight", "--snapshot-on", "no_such_event"], 1, "no_such_event"),
            (["--flight", "--snapshot-on", "sched_switch no_such_field == 1"], 1, "filter"),
            (["--flight", "--snapshot-on", "latency(sched_switch, no_such) > 1s"], 1, "no_such")):
        done = machine.run("record", "-o", folder / "none", "-e", "sched:sched_switch",
                           "--duration", "1s", *words)
        assert done.returncode == status and text in done.stderr, (words, done)
        assert not (folder / "none").exists()
    recorder = machine.start("-o", folder / "plain", "-e", "sched:sched_switch")
    assert machine.wait_for(lambda: (folder / "plain/host.dat").exists())
    done = machine.run("session", "snapshot", "plain")
    assert done.returncode == 1 and "no flight" in done.stderr, done
    machine.stop(recorder)
    done = machine.run("session", "snapshot", "plain")
    assert done.returncode == 1 and "no session" in done.stderr, done


tracefs = machine.Tracefs()
with tempfile.TemporaryDirectory(prefix="strata-flight-") as name:
    folder = pathlib.Path(name)
    try:
        two_snapshots(folder)
        overwritten(folder)
        known_load(folder)
        on_signal(folder)
        on_event(folder)
        on_latency(folder)
        stopped(folder)
        killed(folder, tracefs)
        wrong_usage(folder)
        own = {"strata-" + path.name for path in folder.rglob("*")}
        assert not own & tracefs.instances(), tracefs.instances()
    finally:
        tracefs.close()
