#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata record --flight --app`: a snapshot has what programs told last, also those that ended."""

import signal
import subprocess
import time

import machine
import programs
from programs import Flight, app_parts, go, kept, told


def numbers(folder):
    return [event["fields"]["number"] for event in machine.events(folder / "app-emitter")]


def goes_on(file):
    """The program tells more."""
    before = told(file)
    assert machine.wait_for(lambda: told(file) > before + 1000)


def all_there(folder, emitter):
    """What fits into the rings is there, in each of two snapshots, though the program has ended."""
    out, file = folder / "small", emitter.file()
    with Flight(out, emitter) as flight:
        waiting = emitter.start(file, "count", 2000, 1, wait=True)
        go(waiting)
        assert waiting.wait() == 0 and told(file) == 2000
        for name in ("a", "b"):
            path, said = flight.snapshot(name)
            assert sorted(entry.name for entry in path.iterdir()) == \
                ["app-emitter", "recording.json"], list(path.iterdir())
            assert numbers(path) == list(range(2000))
            assert said["events"] == kept(path / "app-emitter") == 2000 and said["lost"] == 0, said
            (part,) = app_parts(path)
            assert part["finished"] and part["lost"] == 0 and part["lost_unknown"] == 0, part
            time.sleep(0.2)
    assert not out.exists(), "a folder without a snapshot is left"


def full_window(folder, emitter):
    """While it is written over at full speed: within the window nothing is missing, each time."""
    out, file = folder / "window", emitter.file()
    with Flight(out, emitter, "--buffer-size", "1M") as flight:
        busy = emitter.start(file, "forever", 1)
        try:
            assert machine.wait_for(lambda: told(file) > 200000)
            saved = []
            for name in ("a", "b", "c"):
                begin = told(file)
                saved.append((*flight.snapshot(name), begin))
                goes_on(file)
        finally:
            busy.kill()
            busy.wait()
    for path, said, before in saved:
        (part,) = app_parts(path)
        assert part["lost_unknown"] == 0 and part["lost"] == 0, part
        events = machine.events(path / "app-emitter")
        # The line to the time of day is told in the recording to some ns.
        inside = [event["fields"]["number"] for event in events
                  if event["ts_ns"] > said["begin_ns"] + 1000]
        assert len(inside) > 10000, (len(inside), said)
        assert inside == list(range(inside[0], inside[0] + len(inside))), (inside[0], len(inside))
        # All that was told when it was asked for.
        assert inside[-1] >= before - 1, (inside[-1], before)
        assert events[-1]["fields"]["number"] - inside[0] + 1 == len(inside)


def with_the_kernel(folder, emitter):
    """Side by side with the kernel's events; by SIGUSR1 too."""
    out, file = folder / "both", emitter.file()
    with Flight(out, emitter, "-e", "syscalls:sys_enter_getppid", "-e", "syscalls:sys_exit_getppid",
                "-e", "emitter:before", "-e", "emitter:after") as flight:
        waiting = emitter.start(file, "calls", 500, 1, wait=True)
        go(waiting)
        assert waiting.wait() == 0
        flight.process.send_signal(signal.SIGUSR1)
        assert machine.wait_for(lambda: list(out.glob("*/recording.json")))
        (path,) = (entry.parent for entry in out.glob("*/recording.json"))
    events = machine.events(path)
    (thread,) = {event["fields"]["tid"] for event in events if event["event"] == "before"}
    order = [event["event"] for event in events
             if event["event"] in ("before", "after") or event["tid"] == thread]
    assert order == ["before", "sys_enter_getppid", "sys_exit_getppid", "after"] * 500, order[:9]
    assert {part["what"] for part in machine.parts(path)} == {"kernel", "application"}


def many_ended(folder, emitter):
    """Of many processes that have ended, some are kept, and they are the newest."""
    out = folder / "ended"
    with Flight(out, emitter) as flight:
        pids = []
        for _ in range(80):
            process = subprocess.Popen([emitter.program, emitter.file(), "count", "3", "1"])
            assert process.wait() == 0
            pids.append(process.pid)
        # Which have ended is looked at once a second.
        for attempt in range(100):
            path, said = flight.snapshot(attempt)
            if said["events"] < 3 * 80:
                break
            time.sleep(0.1)
    streams = {int(file.name.split("-")[0]) for file in (path / "app-emitter").glob("*-ring*")}
    assert streams == set(pids[-len(streams):]) and 16 <= len(streams) < 80, len(streams)
    assert kept(path / "app-emitter") == 3 * len(streams)


programs.run(all_there, full_window, with_the_kernel, many_ended)
print("what programs told last is there")
