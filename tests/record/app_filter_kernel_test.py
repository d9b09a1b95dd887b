#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata record --app` with -F and --context: exactly the events that were asked for, with who wrote them."""

import json
import re
import shutil
import subprocess

import machine
import programs
from programs import app_parts, kept

ORDERS = 20000


def orders():
    """What emitter.c places, twice: by it and by its child."""
    for i in range(ORDERS):
        yield {"customer": ("alice", "bob", "carol")[i % 3], "size": i, "change": i % 7 - 3}


# What is asked for, and the same in Python.
FILTERS = [
    (["-F", "size > 4096"], lambda e: e["size"] > 4096),
    (["-F", "customer == bob"], lambda e: e["customer"] == "bob"),
    (["-F", "customer ~ '*a[rl]*'"], lambda e: e["customer"] in ("alice", "carol")),
    (["-F", "change < -1"], lambda e: e["change"] < -1),
    (["-F", "customer == bob and (change == 3 or size & 0x100)"],
     lambda e: e["customer"] == "bob" and (e["change"] == 3 or e["size"] & 0x100)),
    (["-F", "not size >= 7", "-F", "change != 0"], lambda e: e["size"] < 7 and e["change"] != 0),
]


def counts(folder, emitter):
    """As many as fulfil the filter, none of them lost and no other kept."""
    for number, (filters, wanted) in enumerate(FILTERS):
        out = folder / f"filter{number}"
        said = json.loads(machine.fine("record", "--json", "--no-state", "-o", out, "--app", emitter.program,
                                       "-e", "emitter:order", *filters, "--",
                                       emitter.program, emitter.file(), "orders", ORDERS))
        (part,) = app_parts(out)
        expected = 2 * sum(bool(wanted(order)) for order in orders())
        events = kept(out / part["file"])
        assert (events, part["lost"]) == (expected, 0), (filters, events, expected, part)
        assert said["events"] == events, said
        for event in machine.events(out):
            assert wanted(event["fields"]), (filters, event)


def which_probes(folder, emitter):
    """A filter is its -e's; before any it is for all; a probe that lacks the field is left out."""
    out = folder / "own"
    machine.fine("record", "--no-state", "-o", out, "--app", emitter.program, "-e", "emitter:order",
                 "-F", "size < 5", "-e", "emitter:level", "--", "sh", "-c",
                 f"{emitter.program} {emitter.file()} orders 10; {emitter.program} {emitter.file()} kinds")
    names = sorted(event["event"] for event in machine.events(out))
    assert names == ["level"] + ["order"] * 10, names

    for limit, expected in [("1000000", 1), ("1000000000", 0)]:
        out = folder / f"longer{limit}"
        machine.fine("record", "--no-state", "-o", out, "--app", emitter.program, "-e", "emitter:nap",
                     "-F", f"duration_ns > {limit} and us == 2000", "--", emitter.program,
                     emitter.file(), "kinds")
        assert len(machine.events(out)) == expected, limit

    out = folder / "all"
    done = machine.run("record", "--no-state", "-o", out, "--app", emitter.program, "-F", "size == 3",
                       "-e", "emitter:[lo]*", "--", emitter.program, emitter.file(), "orders", 10)
    assert done.returncode == 0, done.stderr
    assert "emitter:level cannot fulfil the filter" in done.stderr, done.stderr
    assert [event["fields"]["size"] for event in machine.events(out)] == [3, 3]

    for wrong, why in [("colour == 3", "customer, size, change"), ("size = 3", "in column 6")]:
        done = machine.run("record", "-o", folder / "none", "--app", emitter.program, "-e",
                           "emitter:order", "-F", wrong, "--", "true")
        assert done.returncode != 0 and why in done.stderr, done.stderr
    done = machine.run("record", "-o", folder / "none", "--app", emitter.program, "--context", "mood",
                       "--", "true")
    assert done.returncode != 0 and "mood" in done.stderr, done.stderr


def counters(folder, emitter):
    """What the processor counted of a thread grows from event to event; or it is refused, and why is said."""
    out = folder / "counters"
    done = machine.run("record", "--no-state", "-o", out, "--app", emitter.program, "-e",
                       "emitter:order", "--context", "cycles,instructions,tid", "--", emitter.program,
                       emitter.file(), "orders", 100)
    if done.returncode != 0:
        assert not out.exists(), list(out.iterdir())
        assert re.search(r"--context cycles: .*(has no such counter|not allowed|rdpmc)", done.stderr), done.stderr
        return
    events = machine.events(out)
    assert len(events) == 100, len(events)
    for name in ("perf_thread_cpu_cycles", "perf_thread_instructions"):
        counts = [event["context"][name] for event in events]
        assert all(a < b for a, b in zip(counts, counts[1:])), counts


def contexts(folder, emitter):
    """Thread, name and CPU are what the thread itself found, also in a forked child."""
    out, threads = folder / "contexts", 4
    machine.fine("record", "--no-state", "-o", out, "--app", emitter.program, "-e", "emitter:self",
                 "--context", "tid,comm,cpu", "--", emitter.program, emitter.file(), "selves", threads)
    events = machine.events(out)
    assert len(events) == 2 * threads, events
    assert len({event["tid"] for event in events}) == 2 * threads, events
    for event in events:
        own = event["fields"]
        assert event["tid"] == own["self_tid"] and event["cpu"] == own["self_cpu"], event
        assert event["context"] == {"vtid": own["self_tid"], "procname": own["self_name"],
                                    "cpu_id": own["self_cpu"]}, event
    for cpu in {event["cpu"] for event in events}:
        of_cpu = machine.events(out, "--cpu", str(cpu))
        assert of_cpu == [event for event in events if event["cpu"] == cpu], (cpu, of_cpu)
    of_name = machine.events(out, "-F", "comm == self-3")
    assert of_name == [event for event in events if event["comm"] == "self-3"] and of_name, of_name

    kept(out / "app-emitter")
    if shutil.which("babeltrace2"):
        text = subprocess.run(["babeltrace2", out / "app-emitter"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        for event in events:
            own = event["fields"]
            context = (f'{{ vtid = {own["self_tid"]}, procname = "{own["self_name"]}", '
                       f'cpu_id = {own["self_cpu"]} }}')
            assert context in text, (context, text)


def together(folder, emitter):
    """Filters see the fields alone, with contexts before them."""
    out = folder / "together"
    machine.fine("record", "--no-state", "-o", out, "--app", emitter.program, "-e", "emitter:order", "-F",
                 "change == 3", "--context", "cpu", "--", emitter.program, emitter.file(), "orders", 700)
    events = machine.events(out)
    assert len(events) == 200, len(events)
    assert all(list(event["context"]) == ["cpu_id"] for event in events), events[0]


programs.run(counts, which_probes, counters, contexts, together)
print("what was asked for is there, and nothing else")
