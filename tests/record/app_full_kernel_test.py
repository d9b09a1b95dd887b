#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata record --app --when-full`: what a program does when its ring is full."""

import pathlib
import signal

import machine
import programs
from programs import app_parts, go, recorder, told

SMALL = ["--buffer-size", "128K"]


def recorded(out):
    """Events that are there, and those that were lost."""
    (part,) = app_parts(out)
    assert part["lost_unknown"] == 0, part
    return machine.info(out / part["file"])["events"], part["lost"]


def nothing_lost(folder, emitter):
    """As fast as it can, through rings that hold a thousandth of it: all of it arrives."""
    out, file, events = folder / "block", emitter.file(), 10_000_000
    machine.fine("record", "-o", out, *SMALL, "--when-full", "block=1h", "--app", emitter.program,
                 "--", emitter.program, file, "count", events // 2, 2)
    assert told(file) == events
    assert recorded(out) == (events, 0), recorded(out)


def limited(folder, emitter):
    """While the recorder stands still, a program waits for the limit, then goes on; what it told
    meanwhile is counted."""
    out, file, events = folder / "limit", emitter.file(), 200_000
    recording = recorder(out, *SMALL, "--when-full", "block=200ms", "--app", emitter.program)
    process = emitter.start(file, "count", events, 1, wait=True)
    maps = pathlib.Path(f"/proc/{process.pid}/maps")
    assert machine.wait_for(lambda: "memfd:strata-probe" in maps.read_text())
    recording.send_signal(signal.SIGSTOP)
    try:
        go(process)
        assert process.wait(timeout=60) == 0
    finally:
        recording.send_signal(signal.SIGCONT)
    machine.stop(recording)
    kept, lost = recorded(out)
    assert kept + lost == told(file) == events and lost > events // 2, (kept, lost)


def wrong_usage(folder, emitter):
    app = ["--app", emitter.program]
    for words, text in ((["--when-full", "block"], "--app"),
                        ([*app, "--when-full", "wait"], "discard, block"),
                        ([*app, "--when-full", "block=0s"], "between"),
                        ([*app, "--when-full", "block=x"], "x"),
                        ([*app, "--flight", "--when-full", "block"], "flight")):
        done = machine.run("record", "-o", folder / "none", *words, "--duration", "1s")
        assert done.returncode == 2 and text in done.stderr, (words, done)


programs.run(nothing_lost, limited, wrong_usage)
print("programs wait when they are to, and not for longer")
