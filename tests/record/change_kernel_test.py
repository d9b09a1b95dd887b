#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata session change`: what a session records changes while it does, and the recording tells."""

import json
import os
import pathlib
import tempfile

import machine

NAME = f"change{os.getpid()}"
EVENT = "events/syscalls/sys_enter_pwrite64"


def change(*words):
    return machine.run("session", "change", NAME, *words)


def changed(out, *words):
    """Does it; gives when, as the recording tells, and what it says of it."""
    done = change(*words)
    assert done.returncode == 0, (words, done.stderr)
    last = json.loads((out / "recording.json").read_text())["sessions"][0]["changes"][-1]
    assert last["what"] in done.stdout, (last, done.stdout)
    return last["at_ns"], last["what"]


def refused(out, *words):
    """Nothing changes, and the reason is told."""
    before = (out / "recording.json").read_text()
    done = change(*words)
    assert done.returncode == 1, (words, done.returncode, done.stdout)
    assert (out / "recording.json").read_text() == before
    return done.stderr


def start(out, *words):
    recorder = machine.start("-o", out, "--name", NAME, "--sync", "100ms", *words)
    answers = lambda: change("--enable", "sched:sched_switch").returncode == 0
    assert machine.wait_for(answers, 30), recorder.poll()
    return recorder


class Load(machine.NumberedWrites):
    def written(self):
        text = pathlib.Path(f"/proc/{self.pid}/io").read_text()
        return int(dict(line.split(": ") for line in text.splitlines())["syscw"])

    def goes_on(self):
        before = self.written()
        assert machine.wait_for(lambda: self.written() > before + 50, 60)


def events_and_filters(folder, tracefs):
    out = folder / "out"
    instance = f"instances/strata-{NAME}/"
    one, two = Load(0, 20, 0.01), Load(0, 20, 0.01)
    recorder = start(out, "-e", "sched:sched_switch")
    try:
        one.go()
        two.go()
        one.goes_on()
        on, what = changed(out, "--enable", "syscalls:sys_enter_pwrite64", "-F",
                           f"count == 7 && common_pid == {one.pid}")
        assert "enabled syscalls:sys_enter_pwrite64" in what and f"== {one.pid}" in what, what
        one.goes_on()

        # What is refused changes nothing: neither the events before it in the same wish.
        assert "no_such" in refused(out, "--enable", "syscalls:sys_enter_getppid",
                                    "--enable", "no_such:event")
        text = refused(out, "--enable", "syscalls:sys_enter_getppid",
                       "--enable", "sys_enter_pwrite64", "-F", "no_such_field == 1")
        assert "no_such_field" in text, text
        assert "sys_enter_getppid" in refused(out, "--disable", "sys_enter_getppid")
        assert refused(out, "--disable", "sched_switch", "--pid", "4194305")
        assert tracefs.read(instance + EVENT + "/filter").strip() == \
            f"count == 7 && common_pid == {one.pid}"
        assert tracefs.read(instance + EVENT + "/enable").strip() == "1"
        assert tracefs.read(instance + "events/sched/sched_switch/enable").strip() == "1"
        assert tracefs.read(instance + "events/syscalls/sys_enter_getppid/enable").strip() == "0"
        assert change().returncode == 2 and change("-F", "count == 7").returncode == 2
        assert machine.run("session", "change", NAME + "x", "--all-pids").returncode == 1

        other, _ = changed(out, "--enable", "sys_enter_pwrite64", "-F",
                           f"common_pid == {two.pid}")
        two.goes_on()
        off, what = changed(out, "--disable", "*", "--enable", "sched:sched_process_*")
        assert "disabled *" in what, what
        one.goes_on()
    finally:
        one.kill()
        two.kill()
        machine.stop(recorder)
    firsts, seconds = one.recorded(out), two.recorded(out)
    begin = json.loads((out / "recording.json").read_text())["sessions"][0]["changes"][0]["at_ns"]
    assert firsts and all(begin < at <= other for _, at in firsts), (begin, other, firsts[:3])
    assert len(seconds) >= 50 and all(on < at <= off for _, at in seconds), (on, off, seconds[:3])
    positions = [position for position, _ in firsts]
    assert positions == list(range(positions[0], positions[0] + len(positions)))
    switches = [e["ts_ns"] for e in machine.events(out, "-e", "sched_switch")]
    assert switches and max(switches) <= off
    assert machine.events(out, "-e", "sched_process_exit"), "what was enabled last"
    told = machine.info(out)
    assert [c["session"] for c in told["changes"]] == [NAME] * 4, told["changes"]
    assert "changed at" in machine.fine("info", out)


def processes(folder):
    out = folder / "processes"
    one, two = Load(0, 20, 0.01), Load(0, 20, 0.01)
    recorder = start(out, *machine.WRITES)
    try:
        one.go()
        two.go()
        changed(out, "--pid", one.pid)
        begin = two.written()
        one.goes_on()
        two.goes_on()
        end = two.written()
        assert changed(out, "--all-pids")[1] == "all processes"
        again = two.written()
        two.goes_on()
    finally:
        one.kill()
        two.kill()
        machine.stop(recorder)
    # A write is counted a moment after it is recorded, or the other way round.
    positions = {position for position, _ in two.recorded(out)}
    assert not positions & set(range(begin + 2, end - 2)), (begin, end, sorted(positions)[:3])
    assert set(range(again + 2, again + 40)) <= positions, (again, len(positions))
    singles = [position for position, _ in one.recorded(out)]
    assert singles == list(range(singles[0], singles[-1] + 1)), "the other one is not disturbed"


def in_chunks(folder):
    """A change holds in the chunks that follow, and each tells of it."""
    out = folder / "chunks"
    load = Load(0, 20, 0.01)
    recorder = start(out, "--keep", "10s", "-e", "sched:sched_switch")
    try:
        load.go()
        assert change(*["--enable", *machine.WRITES[1:]]).returncode == 0
        known = set(out.iterdir())
        assert machine.wait_for(lambda: len(set(out.iterdir()) - known) >= 2, 60)
        load.goes_on()
    finally:
        load.kill()
        machine.stop(recorder)
    last = sorted(out.iterdir())[-2]
    writes = load.recorded(last)
    assert writes, last
    changes = json.loads((last / "recording.json").read_text())["sessions"][0]["changes"]
    assert any("sys_enter_pwrite64" in each["what"] for each in changes), changes
    told = machine.info(out)["changes"]
    assert len(told) == len({each["at_ns"] for each in told}) == len(changes), told


tracefs = machine.Tracefs()
try:
    with tempfile.TemporaryDirectory(prefix="strata-change-") as name:
        folder = pathlib.Path(name)
        events_and_filters(folder, tracefs)
        processes(folder)
        in_chunks(folder)
finally:
    tracefs.close()
