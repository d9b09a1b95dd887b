#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions over one program that do different things when its rings are full, at the same time."""

import itertools
import json
import signal

import machine
import programs
from programs import (Flight, app_parts, core_of, counts, go, kill, recorder, told, wait_for_told,
                      wait_for_written)

STEPS = ["-e", "emitter:step"]
SMALL = [*STEPS, "--buffer-size", "128K"]  # a small part of what is told


def lossless(out, emitter, *words):
    return recorder(out, "--app", emitter.program, *words)


def blocking(out, emitter, *words):
    return recorder(out, "--app", emitter.program, "--when-full", "block=1h", *words)


def by_thread(events):
    """The numbers that each thread told, in the order of time."""
    numbers = {}
    for event in events:
        numbers.setdefault(event["fields"]["thread"], []).append(event["fields"]["number"])
    return numbers


def expect_window(path, said, last):
    """A snapshot: from its begin on each thread's events are all there, up to its `last`."""
    (part,) = app_parts(path)
    assert part["lost"] == 0 and part["lost_unknown"] == 0, part
    events = machine.events(path / "app-emitter")
    # The line to the time of day is told in the recording to some ns.
    window = by_thread(event for event in events if event["ts_ns"] > said["begin_ns"] + 1000)
    assert window, (len(events), said)
    for thread, numbers in window.items():
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), (thread, numbers[:3])
        assert numbers[-1] == last[thread], (thread, numbers[-1], last)
    return sum(map(len, window.values()))


def each_is_exact(folder, emitter, order):
    """Whoever came first, and owns the socket, over a program that runs already."""
    name = "".join(kind.__name__[0] for kind in order)
    file, each = emitter.file(), 100_000
    running = emitter.start(file, "count", each, 2, wait=True)
    outs, sessions = {}, {}
    for kind in order:
        outs[kind] = folder / f"{kind.__name__}-{name}"
        if kind is Flight:
            sessions[kind] = Flight(outs[kind], emitter, *SMALL).__enter__()
        else:
            sessions[kind] = kind(outs[kind], emitter, *SMALL)
    go(running)
    assert running.wait() == 0 and told(file) == 2 * each
    path, said = sessions[Flight].snapshot("end")
    sessions[Flight].__exit__()
    machine.stop(sessions[lossless])
    machine.stop(sessions[blocking])
    events, lost = counts(outs[lossless])
    assert events + lost == 2 * each, (events, lost)
    assert counts(outs[blocking]) == (2 * each, 0), counts(outs[blocking])
    window = expect_window(path, said, [each - 1, each - 1])
    assert window < 2 * each, "nothing was overwritten"


def full_for_one(folder, emitter):
    """A session that stands still has its rings full. The others do not notice."""
    file, each = emitter.file(), 100_000
    still, awake = folder / "still", folder / "awake"
    running = emitter.start(file, "count", each, 1, wait=True)
    with Flight(folder / "unhurt", emitter, *SMALL) as flight:
        sleeper = lossless(still, emitter, *SMALL)
        waiter = blocking(awake, emitter, *SMALL)
        sleeper.send_signal(signal.SIGSTOP)
        try:
            go(running)
            assert running.wait() == 0 and told(file) == each
            path, said = flight.snapshot("end")
        finally:
            sleeper.send_signal(signal.SIGCONT)
        machine.stop(sleeper)
        machine.stop(waiter)
    events, lost = counts(still)
    assert events + lost == each and lost > each // 2, (events, lost)
    assert counts(awake) == (each, 0), counts(awake)
    expect_window(path, said, [each - 1])


def come_and_go(folder, emitter):
    """While the program runs: who stays has it all, in order, once."""
    out, file = folder / "stays", emitter.file()
    stays = blocking(out, emitter, *STEPS)
    running = emitter.start(file, "paced", 10**9, 2)
    wait_for_told(file, 10_000)
    for turn in range(3):
        guest = lossless(folder / f"guest{turn}", emitter, *STEPS)
        with Flight(folder / f"flight{turn}", emitter, *STEPS) as flight:
            wait_for_told(file, 10_000)
            if turn == 2:
                kill(guest)
            else:
                machine.stop(guest)
            wait_for_told(file, 10_000)
            path, said = flight.snapshot("end")
            assert said["lost"] == 0 and said["events"] > 10_000, said
    wait_for_told(file, 10_000)
    running.kill()
    running.wait()
    machine.stop(stays)
    events, lost = counts(out)
    # A call of each thread may have been made and not been told.
    assert lost == 0 and told(file) <= events <= told(file) + 2, (events, lost, told(file))
    for thread, numbers in by_thread(machine.events(out)).items():
        assert numbers == list(range(len(numbers))), thread


def both_are_dead(folder, emitter):
    """Two sessions were killed: the next has what was left for its own kind, and a core file what
    was left for each."""
    first, file = folder / "dead", emitter.file()
    flight = Flight(folder / "dead-flight", emitter, *STEPS).__enter__()
    session = lossless(first, emitter, *STEPS)
    running = emitter.start(file, "lines", 1000, STRATA_PROBE="emitter:step")
    go(running)
    wait_for_written(first, 1000)
    kill(session)
    kill(flight.process)
    go(running)
    assert machine.wait_for(lambda: told(file) == 2000)
    core = core_of(running, folder)
    if core is None:
        return
    out = folder / "from-core"
    said = json.loads(machine.fine("recover", "--json", "--core", core, "-o", out))
    assert said["events"] == 3000 and said["lost"] == 0, said
    assert counts(out) == (1000, 0), counts(out)
    assert counts(out, "app-emitter-flight") == (2000, 0), counts(out, "app-emitter-flight")


def heir_of_one(folder, emitter):
    """The next session of a killed one's kind goes on where it stopped; of another kind, it begins
    anew."""
    for heir, expected in ((lossless, 2000), (blocking, 1000)):
        first, second = (folder / f"{word}-{heir.__name__}" for word in ("left", "heir"))
        file = emitter.file()
        session = lossless(first, emitter, *STEPS)
        running = emitter.start(file, "lines", 1000, STRATA_PROBE="emitter:step")
        go(running)
        wait_for_written(first, 1000)
        kill(session)
        go(running)
        assert machine.wait_for(lambda: told(file) == 2000)
        next_one = heir(second, emitter, *STEPS)
        go(running)
        running.stdin.close()
        assert running.wait() == 0
        machine.stop(next_one)
        assert counts(second) == (expected, 0), counts(second)


def all_together(folder, emitter):
    for order in itertools.islice(itertools.permutations((lossless, Flight, blocking)), 0, 6, 2):
        each_is_exact(folder, emitter, order)
    full_for_one(folder, emitter)
    come_and_go(folder, emitter)
    both_are_dead(folder, emitter)
    heir_of_one(folder, emitter)


programs.run(all_together)
print("each session has what it is to have, whatever the others do when rings are full")
