#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata record --app --keep`: between chunks no event of a program is lost or doubled."""

import json
import os

import machine
import programs
from programs import told

# Many chunks of little: see src/record/chunks.cc.
os.environ["STRATA_CHUNK_BYTES"] = str(64 << 10)


def chunks(out):
    return sorted(path.parent for path in out.glob("*/recording.json"))


def parts(chunk):
    return json.loads((chunk / "recording.json").read_text())["parts"]


def begun(out, *words):
    process = machine.start("-o", out, "--no-state", "--keep", "1h", *words)
    ready = machine.wait_for(lambda: (out.exists() and chunks(out)) or process.poll() is not None)
    assert ready and process.poll() is None, process.communicate()
    return process


def each_once(folder, emitter):
    """Alone: what two threads tell, across chunks, and chunks in which they tell nothing."""
    out, file, events = folder / "once", emitter.file(), 100_000
    recording = begun(out, "--when-full", "block=1h", "--app", emitter.program)
    process = emitter.start(file, "paced", events, 2)
    looks = 0
    while process.poll() is None:
        machine.info(out)
        looks += 1
    later = emitter.start(emitter.file(), "count", 10, 1)
    assert process.wait() == later.wait() == 0
    machine.stop(recording)
    assert told(file) == 2 * events
    found = chunks(out)
    assert len(found) >= 3, found
    for chunk in found:
        assert not (chunk / "host.dat").exists()
        for part in parts(chunk):
            assert part["finished"] and part["lost"] == 0 and part["lost_unknown"] == 0, part
            assert machine.info(chunk / part["file"])["events"] > 0
    steps = machine.events(out)
    for thread, others in enumerate((range(10), ())):
        own = sorted(event["fields"]["number"] for event in steps
                     if event["fields"]["thread"] == thread)
        assert own == sorted([*range(events), *others]), (thread, len(own), looks)
    assert machine.info(out)["lost"] == 0
    # Any span of it opens as one.
    begin, end = steps[events // 2]["ts_ns"], steps[events]["ts_ns"]
    wanted = [event["fields"] for event in steps if begin <= event["ts_ns"] <= end]
    span = [event["fields"] for event in machine.events(out, "--begin", begin, "--end", end)]
    assert span == wanted, (len(span), len(wanted))


def with_the_kernel(folder, emitter):
    """Both kinds of events go on from one chunk to the next."""
    out, file = folder / "both", emitter.file()
    recording = begun(out, "--app", emitter.program, "-e", "emitter:*", "-e",
                      "syscalls:sys_enter_getppid", "--when-full", "block=1h")
    process = emitter.start(file, "calls", 10_000_000, 1)
    assert machine.wait_for(lambda: len(chunks(out)) >= 3, 60)
    process.kill()
    process.wait()
    machine.stop(recording)
    events = machine.events(out)
    before = [event["fields"] for event in events if event["event"] == "before"]
    assert [fields["number"] for fields in before] == list(range(len(before)))
    assert len(before) >= told(file) // 2
    calls = sum(event["event"] == "sys_enter_getppid" and event["tid"] == before[0]["tid"]
                for event in events)
    assert 0 <= len(before) - calls <= 1, (calls, len(before))
    for chunk in chunks(out):
        whats = [part["what"] for part in parts(chunk)]
        assert whats[0] == "kernel" and all(part["finished"] for part in parts(chunk)), whats


programs.run(each_once, with_the_kernel)
print("nothing is lost or doubled between chunks")
