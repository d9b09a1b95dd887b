#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several sessions over one program: each has all that it chose, however the others end."""

import json
import subprocess
import time

import machine
import programs
from programs import (build, core_of, counts, go, kill, recorder, told, wait_for_told,
                      wait_for_written)


def finish(process):
    """A program that goes on until its input ends."""
    process.stdin.close()
    assert process.wait() == 0


def different_sites(folder, emitter, first_to_end):
    """Each has the events of its own sites, and no others, in either order of ending."""
    outs = [folder / f"sites{first_to_end}{i}" for i in range(2)]
    file, later = emitter.file(), emitter.file()
    running = emitter.start(file, "calls", 10000, 2, wait=True)
    sessions = [recorder(out, "--app", emitter.program, "-e", f"emitter:{name}")
                for out, name in zip(outs, ("before", "after"))]
    go(running)
    assert running.wait() == 0
    machine.stop(sessions[first_to_end])
    # The one that is left serves programs that come now.
    assert emitter.start(later, "calls", 100, 1).wait() == 0
    machine.stop(sessions[1 - first_to_end])
    assert told(file) == 40000 and told(later) == 200
    expected = [20000, 20000]
    expected[1 - first_to_end] += 100
    for out, name, events in zip(outs, ("before", "after"), expected):
        assert counts(out) == (events, 0), (out, counts(out), events)
        assert {event["event"] for event in machine.events(out)} == {name}


def one_is_killed(folder, emitter, victim):
    """The owner of the socket (0) or the other one (1) is killed: the one that is left has it all,
    also of programs that start at this moment."""
    outs = [folder / f"killed{victim}{i}" for i in range(2)]
    file, later = emitter.file(), emitter.file()
    sessions = [recorder(out, "--app", emitter.program, "-e", "emitter:step") for out in outs]
    running = emitter.start(file, "forever", 2)
    wait_for_written(outs[victim], 1000)
    kill(sessions[victim])
    wait_for_told(file, 200000)  # several times what the rings hold
    other = emitter.start(later, "count", 1000, 1)
    assert other.wait() == 0 and told(later) == 1000
    running.kill()
    running.wait()
    machine.stop(sessions[1 - victim])
    events, lost = counts(outs[1 - victim])
    emitted = told(file) + told(later)
    # A call of each thread may have been made and not been told.
    assert emitted <= events + lost <= emitted + 2, (events, lost, emitted)
    assert events > 1000
    # What the killed one had written opens.
    assert machine.info(outs[victim] / "app-emitter")["events"] >= 1000


def taken_over(folder, emitter, by_itself):
    """A program whose collector was killed: the next session has what it tells.

    Where it keeps its probes on itself, also what it told while nobody was there."""
    first, second = folder / f"left{by_itself}", folder / f"heir{by_itself}"
    file = emitter.file()
    session = recorder(first, "--app", emitter.program, "-e", "emitter:step")
    variables = {"STRATA_PROBE": "emitter:step"} if by_itself else {}
    running = emitter.start(file, "lines", 1000, **variables)
    go(running)
    wait_for_written(first, 1000)
    kill(session)
    if by_itself:
        go(running)
        assert machine.wait_for(lambda: told(file) == 2000)
    heir = recorder(second, "--app", emitter.program, "-e", "emitter:step")
    go(running)
    finish(running)
    machine.stop(heir)
    assert counts(second) == (told(file) - 1000, 0), (counts(second), told(file))
    numbers = [event["fields"]["number"] for event in machine.events(second)]
    assert numbers == list(range(1000, told(file))), (numbers[:3], numbers[-3:])


def from_core(folder, emitter):
    """Program and collector are both dead: what nobody had taken is in the core file."""
    first, out = folder / "before-core", folder / "from-core"
    file = emitter.file()
    session = recorder(first, "--app", emitter.program, "-e", "emitter:step")
    running = emitter.start(file, "lines", 1000, STRATA_PROBE="emitter:step")
    go(running)
    wait_for_written(first, 1000)
    kill(session)
    go(running)
    assert machine.wait_for(lambda: told(file) == 2000)
    core = core_of(running, folder)
    if core is None:
        return
    said = json.loads(machine.fine("recover", "--json", "--core", core, "-o", out))
    assert said["events"] == 1000 and said["lost"] == 0, said
    assert counts(out) == (1000, 0)
    found = machine.events(out)
    assert [event["fields"]["number"] for event in found] == list(range(1000, 2000))
    # On this machine, in this boot: the time of day is right, too.
    assert abs(found[-1]["ts_ns"] - time.time_ns()) < 600e9, found[-1]
    done = machine.run("recover", "--core", emitter.program, "-o", folder / "none")
    assert done.returncode == 1 and "no rings" in done.stderr, done.stderr
    assert not (folder / "none").exists()


def scribbled(folder, emitter, scribbler):
    """A program that writes over its table of readers loses its own events, and nobody else's."""
    outs = [folder / f"scribbled{i}" for i in range(2)]
    file, scribbled = emitter.file(), emitter.file()
    sessions = [recorder(out, "--app", emitter.program, "--app", scribbler) for out in outs]
    hostile = subprocess.Popen([scribbler, scribbled])
    wait_for_told(scribbled, 1000)
    for _ in range(3):
        assert emitter.start(file, "count", 20000, 2).wait() == 0
        assert told(file) == 40000
        wait_for_told(scribbled, 1000)
    hostile.kill()
    hostile.wait()
    for session in sessions:
        machine.stop(session)
    for out in outs:
        events, lost = counts(out)
        assert events + lost == 120000, (out, events, lost)


def all_together(folder, emitter):
    scribbler = build(folder, "scribbler")
    for number in range(2):
        different_sites(folder, emitter, number)
        one_is_killed(folder, emitter, number)
    taken_over(folder, emitter, by_itself=False)
    taken_over(folder, emitter, by_itself=True)
    scribbled(folder, emitter, scribbler)
    from_core(folder, emitter)


programs.run(all_together)
print("each session has all that it chose")
