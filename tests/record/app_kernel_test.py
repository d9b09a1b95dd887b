#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata record --app`: what programs tell by their probes is in the recording, or counted."""

import json
import os
import random
import time

import machine
import programs
from programs import app_parts, go, kept, recorder, told


def command(folder, emitter):
    """A command's events, all of them or counted, in one trace."""
    out, file = folder / "command", emitter.file()
    said = json.loads(machine.fine("record", "--json", "--no-state", "-o", out, "--app",
                                   emitter.program, "--", emitter.program, file, "count", 200000, 2))
    assert told(file) == 400000
    (part,) = app_parts(out)
    assert part["file"] == "app-emitter" and part["finished"], part
    events = kept(out / "app-emitter")
    assert events + part["lost"] == 400000, (events, part)
    assert said["events"] == events and said["lost"] == part["lost"], said
    assert events > 0


def kinds(folder, emitter):
    """Every kind of field, span and counter, as the program told them."""
    out, file = folder / "kinds", emitter.file()
    machine.fine("record", "--no-state", "-o", out, "--app", emitter.program, "--",
                 emitter.program, file, "kinds")
    found = {event["event"]: event for event in machine.events(out)}
    words = found["words"]["fields"]
    assert words["text"] == "some words" and words["numbers"] == [1, 2, 4000000000], words
    assert words["truncated"] == 0 and words["share"] == 0.125, words
    assert found["nap"]["fields"]["us"] == 2000, found
    assert found["nap"]["fields"]["duration_ns"] >= 2000000, found
    assert found["level"]["fields"]["value"] == -7, found
    assert found["words"]["system"] == "emitter", found
    assert kept(out / "app-emitter") == 3


def chosen(folder, emitter):
    """-e chooses among the probes; a name that is no probe's is the kernel's."""
    out, file = folder / "chosen", emitter.file()
    machine.fine("record", "--no-state", "-o", out, "--app", emitter.program, "-e",
                 "emitter:l*", "--", emitter.program, file, "kinds")
    assert [event["event"] for event in machine.events(out)] == ["level"]
    done = machine.run("record", "-o", folder / "none", "--app", "/bin/true", "--", "true")
    assert done.returncode == 1 and "has no probes" in done.stderr, done.stderr
    done = machine.run("record", "-o", folder / "none", "--app", emitter.program, "-e", "no:such",
                       "--", "true")
    assert done.returncode == 1 and "no:such" in done.stderr, done.stderr


def running_and_later(folder, emitter):
    """Two that run already, one that comes later, and by number only the one that was named."""
    out, one = folder / "running", folder / "one"
    files = [emitter.file() for _ in range(3)]
    early = [emitter.start(file, "count", 30000, 2, wait=True) for file in files[:2]]
    recording = recorder(out, "--app", emitter.program)
    for process in early:
        go(process)
    later = emitter.start(files[2], "count", 30000, 2)
    for process in [*early, later]:
        assert process.wait() == 0
    machine.stop(recording)
    (part,) = app_parts(out)
    events = kept(out / part["file"])
    assert events + part["lost"] == sum(map(told, files)) == 180000, (events, part)

    files = [emitter.file() for _ in range(2)]
    early = [emitter.start(file, "count", 1000, 1, wait=True) for file in files]
    recording = recorder(one, "--app", early[0].pid)
    for process in early:
        go(process)
        assert process.wait() == 0
    machine.stop(recording)
    (part,) = app_parts(one)
    assert kept(one / part["file"]) + part["lost"] == 1000, part


def short_processes(folder, emitter):
    """Many short processes give one folder."""
    out, count = folder / "short", 40
    script = "i=0; while [ $i -lt %d ]; do %s %s count 5 1; i=$((i+1)); done" % (
        count, emitter.program, emitter.file())
    machine.fine("record", "--no-state", "-o", out, "--app", emitter.program, "--", "sh", "-c",
                 script)
    assert [path.name for path in out.glob("app-*")] == ["app-emitter"], list(out.iterdir())
    (part,) = app_parts(out)
    assert kept(out / "app-emitter") + part["lost"] == 5 * count, part


def killed(folder, emitter, *words, kills=25):
    """Programs that are killed at any moment, while they are drained: nothing is missing."""
    out, chance = folder / f"killed{len(words)}", random.Random(5)
    recording = recorder(out, "--app", emitter.program, "--buffer-size", "1M", *words)
    completed = calls = 0
    for i in range(kills):
        file, threads = emitter.file(), 1 + i % 2
        process = emitter.start(file, "forever", threads)
        assert machine.wait_for(lambda: told(file) > 0)
        time.sleep(chance.uniform(0, 0.02))
        process.kill()
        process.wait()
        completed += told(file)
        calls += threads
    machine.stop(recording)
    (part,) = app_parts(out)
    events = machine.info(out / part["file"])["events"]
    # A call may have been made and not been told.
    assert completed <= events + part["lost"] <= completed + calls, (completed, events, part)
    assert part["lost_unknown"] == 0, part


def one_timeline(folder, emitter, calls=int(os.environ.get("STRATA_CALLS", 10000))):
    """Each system call lies between the two probes around it, whatever CPU it was on."""
    out, file, threads = folder / "timeline", emitter.file(), 2
    machine.fine("record", "--no-state", "-o", out, "--buffer-size", "16M", "--app",
                 emitter.program, "-e", "emitter:before", "-e", "emitter:after",
                 "-e", "syscalls:sys_enter_getppid", "-e", "syscalls:sys_exit_getppid", "--",
                 emitter.program, file, "calls", calls // threads, threads)
    assert sum(part["lost"] for part in machine.parts(out)) == 0
    order = ["before", "sys_enter_getppid", "sys_exit_getppid", "after"]
    steps, last, complete = {}, 0, 0
    for event in machine.events(out):
        assert event["ts_ns"] >= last, event
        last = event["ts_ns"]
        name = event["event"]
        if name not in order:
            continue  # of this machine's cgroups
        thread = event["fields"]["tid"] if name in ("before", "after") else event["tid"]
        if name in ("sys_enter_getppid", "sys_exit_getppid") and thread not in steps:
            continue  # somebody else's
        step = steps.get(thread, 0)
        assert order[step] == name, (event, order[step])
        steps[thread] = (step + 1) % len(order)
        complete += name == "after"
    assert complete == calls and len(steps) == threads, (complete, steps)


def killed_with_contexts(folder, emitter):
    killed(folder, emitter, "--context", "tid,cpu", "-e", "emitter:step", "-F", "number >= 0")


programs.run(command, kinds, chosen, running_and_later, short_processes, killed,
             killed_with_contexts, one_timeline)
print("all that was told is there, or counted")
