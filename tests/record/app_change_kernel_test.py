#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata session change` with probes of programs: they are switched while they are recorded."""

import json
import time

import machine
import programs
from programs import recorder, told


def change(out, *words):
    return machine.run("session", "change", out.name, *words)


def changed(out, *words):
    """Does it; gives when, as the recording tells."""
    done = change(out, *words)
    assert done.returncode == 0, (words, done.stderr)
    last = json.loads((out / "recording.json").read_text())["sessions"][0]["changes"][-1]
    assert last["what"] in done.stdout, (last, done.stdout)
    return last["at_ns"], last["what"]


def goes_on(file):
    before = told(file)
    assert machine.wait_for(lambda: told(file) > before + 1000, 60)


def switched(folder, emitter):
    """Off and on again, in a program that runs; another stays on all the while."""
    out, file = folder / "change", emitter.file()
    recording = recorder(out, "--when-full", "block=1h", "--app", emitter.program, "-e",
                         "emitter:before")
    process = emitter.start(file, "calls", 10_000_000, 1)
    try:
        goes_on(file)
        on = time.time_ns()
        _, what = changed(out, "--enable", "emitter:after")
        assert what == "enabled emitter:after of programs", what
        goes_on(file)
        off, what = changed(out, "--disable", "emitter:a*")
        assert what == "disabled emitter:a* of programs", what
        goes_on(file)
        for words, text in ((["--enable", "no:such"], "no such probe"),
                            (["--enable", "emitter:after", "-F", "tid == 1"], "no -F"),
                            (["--disable", "emitter:after"], "no such probe")):
            done = change(out, *words)
            assert done.returncode == 1 and text in done.stderr, (words, done.stderr)
        on_again = time.time_ns()
        changed(out, "--disable", "*", "--enable", "emitter:after")
        goes_on(file)
    finally:
        process.kill()
        process.wait()
        machine.stop(recording)
    events = machine.events(out)
    before = [event for event in events if event["event"] == "before"]
    numbers = [event["fields"]["number"] for event in before]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "one is missing"
    after = [event["ts_ns"] for event in events if event["event"] == "after"]
    slack = 10**6  # the trace's line to the time of day
    assert on - slack < after[0] < off, (on, after[0], off)
    # A thread may have been interrupted between its look at the flag and the event.
    assert sum(off + slack < at < on_again - slack for at in after) <= 1, (off, on_again)
    # When all but this one were disabled, it alone goes on.
    assert after[-1] > before[-1]["ts_ns"]


def with_the_kernel(folder, emitter):
    """A pattern that names both kinds is for both; what the kernel refuses changes nothing."""
    out, file = folder / "both", emitter.file()
    recording = recorder(out, "--app", emitter.program, "-e", "emitter:before", "-e",
                         "syscalls:sys_enter_getppid")
    process = emitter.start(file, "calls", 10_000_000, 1)
    try:
        goes_on(file)
        done = change(out, "--enable", "emitter:after", "--enable", "sys_exit_getppid", "-F",
                      "no_such_field == 1")
        assert done.returncode == 1 and "no_such_field" in done.stderr, done.stderr
        goes_on(file)
        _, what = changed(out, "--enable", "emitter:after", "--enable", "sys_exit_getppid")
        assert what.startswith("enabled emitter:after of programs; enabled sys_exit"), what
        goes_on(file)
        _, what = changed(out, "--disable", "*", "--enable", "sched:sched_switch")
        assert "disabled * of programs" in what and "enabled sched" in what, what
        count = told(file)
        goes_on(file)
    finally:
        process.kill()
        process.wait()
        machine.stop(recording)
    events = machine.events(out / "app-emitter")
    assert events[-1]["fields"]["number"] <= count // 2 + 1, (events[-1], count)
    names = {event["event"] for event in machine.events(out)}
    assert {"before", "after", "sys_enter_getppid", "sys_exit_getppid", "sched_switch"} <= names


programs.run(switched, with_the_kernel)
print("probes are switched while they are recorded")
