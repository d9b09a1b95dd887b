#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CTF traces that other tracers wrote: counts, and every field of Babeltrace's golden outputs."""

import json
import pathlib
import re

import program

CTF = program.CORPUS / "ctf"
TRACES = CTF / "babeltrace-2.1/ctf-traces"
EXPECTED = CTF / "babeltrace-2.1/expect"

# Events, and events discarded, as Babeltrace 1.5.11 and 2.1.3 count them.
COUNTS = {
    "lttng-ref-traces/basic-kernel-analysis": (134500, 0),
    "lttng-ref-traces/picotrace": (20, 0),
    "tracecompass/hello-lost": (32300, 967700),
    "tracecompass/ros2": (99338, 0),
    "tracecompass/synctraces/scp_src": (110771, 0),
    "tracecompass/synctraces/scp_dest": (85729, 0),
    "tracecompass/context-switches": (3934, 0),
    "tracecompass/cyg-profile/glxgears-cyg-profile": (4977, 0),
    "tracecompass/cyg-profile/glxgears-cyg-profile-fast": (5161, 0),
    "tracecompass/perf-taskset2": (1500, 0),
    "tracecompass/ctf-sequence-empty": (10, 0),
    "tracecompass/CTF2-7.0-ev-disc-no-ts-begin-end": (3, 17),
    "tracecompass/CTF2-vl-ints": (1, 0),
    "lttng-analyses-synth/cputop": (92, 0),
    "lttng-analyses-synth/io": (20, 0),
    "lttng-analyses-synth/irq": (46, 0),
    "lttng-analyses-synth/intersect": (4, 0),
    "nested-kvm/host": (99684, 0),
    "nested-kvm/guest": (7844, 0),
}

# What must be refused, and what is there all the same: events before the error.
REFUSED = {"1/fail/valid-events-then-invalid-events": 2, "1/fail/invalid-packet-size": 10}

# Where CTF 1.8 and CTF 2 tell the same trace in two languages.
IN_BOTH = ["2packets", "barectf-event-before-packet", "lttng-crash", "lttng-event-after-packet",
           "lttng-tracefile-rotation", "multi-domains", "no-packet-context", "sequence",
           "session-rotation", "smalltrace", "succeed1", "succeed2", "trace-with-index",
           "wk-heartbeat-u", "array-align-elem", "struct-array-align-elem"]

GOLDEN = {
    "trace-2packets-ctf1-mip0": "1/succeed/2packets",
    "trace-2packets-ctf2-mip1": "2/succeed/2packets",
    "trace-array-align-elem": "1/succeed/array-align-elem",
    "trace-struct-array-align-elem": "1/succeed/struct-array-align-elem",
    "trace-barectf-event-before-packet-ctf1-mip0": "1/succeed/barectf-event-before-packet",
    "trace-barectf-event-before-packet-ctf2-mip1": "2/succeed/barectf-event-before-packet",
    "trace-def-clk-freq-ctf1-mip0": "1/succeed/def-clk-freq",
    "trace-lttng-tracefile-rotation-ctf1-mip0": "1/succeed/lttng-tracefile-rotation",
    "trace-lttng-tracefile-rotation-ctf2-mip1": "2/succeed/lttng-tracefile-rotation",
    "trace-session-rotation-ctf1-mip0": "1/succeed/session-rotation",
    "trace-session-rotation-ctf2-mip1": "2/succeed/session-rotation",
    "trace-smalltrace-mip0": "1/succeed/smalltrace",
}


def info(path):
    done = program.run("info", "--json", path)
    return done.returncode, json.loads(done.stdout) if done.stdout else None


def check_counts():
    for name, (events, lost) in COUNTS.items():
        status, told = info(CTF / name)
        assert status == 0, (name, status)
        assert (told["events"], told["lost"]) == (events, lost), (name, told["events"], told["lost"])


def check_refused():
    for folder in sorted((TRACES / "1/fail").iterdir()) + sorted((TRACES / "2/fail").iterdir()):
        name = str(folder.relative_to(TRACES))
        done = program.run("dump", "--json", folder)
        assert done.returncode == 1, (name, done.returncode)
        assert done.stderr.startswith(b"strata: ") and folder.name.encode() in done.stderr, (
            name, done.stderr)
        events = len(done.stdout.splitlines())
        assert events == REFUSED.get(name, 0), (name, events)


def check_lost_packets():
    for name, marks in [("2-lost-before-last", 1), ("7-lost-between-2-with-index", 1),
                        ("no-lost", 0), ("no-lost-not-starting-at-0", 0),
                        ("2-streams-lost-in-1", 1)]:
        status, told = info(TRACES / "1/packet-seq-num" / name)
        assert status == 0 and told["lost_unknown"] == marks, (name, told["lost_unknown"])


def events_of(path):
    done = program.run("dump", "--json", path)
    assert done.returncode == 0, (path, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_both_languages():
    for name in IN_BOTH:
        one, two = (events_of(TRACES / version / "succeed" / name) for version in "12")
        assert len(one) == len(two), (name, len(one), len(two))
        for a, b in zip(one, two):
            for key in ("trace", "machine", "system"):
                a.pop(key), b.pop(key)
            assert a == b, (name, a, b)


def leaves(value):
    """The values in a JSON value, in order, as text."""
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, list):
        return [leaf for part in value for leaf in leaves(part)] if value else ["Empty"]
    if isinstance(value, str) and re.fullmatch("0x[0-9a-f]+", value):
        return [str(int(value, 16))]
    return [str(value)]


def golden_events(path):
    """(nanoseconds, name, values) of each event in an output of sink.text.details."""
    found = []
    time = None
    for line in path.read_text().splitlines():
        if match := re.match(r"\[[\d,]+ cycles, ([\d,-]+) ns from origin\]", line):
            time = int(match[1].replace(",", ""))
        elif match := re.match(r"Event `(.*)` \(Class ID", line):
            found.append((time, match[1], []))
        elif re.match(r"\S", line):
            inside = False
        if re.match(r"  (Payload|Common context|Specific context)", line):
            inside = True
        elif re.match(r"  \S", line):
            inside = False
        if found and line.startswith("    ") and inside:
            value = line.split(": ", 1)[1] if ": " in line else None
            if value is None or line.rstrip().endswith(":"):
                continue
            if match := re.fullmatch(r"(-?[\d,]+)( \(.*\))?", value):
                value = match[1].replace(",", "")
            elif re.fullmatch(r"0x[0-9a-f:]+", value):
                value = str(int(value.replace(":", ""), 16))
            elif re.fullmatch(r"-?[\d,]+\.\d+", value):
                value = f"{float(value.replace(',', '')):g}"
            found[-1][2].append(value)
        if line == "":
            inside = False
    return found


def check_golden():
    for expected, name in GOLDEN.items():
        theirs = golden_events(EXPECTED / (expected + ".expect"))
        ours = events_of(TRACES / name)
        assert len(theirs) == len(ours) > 0, (expected, len(theirs), len(ours))
        for (time, event, values), own in zip(theirs, ours):
            full = own["system"] + ":" + own["event"] if own["system"] else own["event"]
            assert full == event, (expected, event, full)
            if time is not None:
                assert own["ts_ns"] == time, (expected, event, time, own["ts_ns"])
            got = leaves(own.get("context", {})) + leaves(own["fields"])
            assert got == values, (expected, event, values, got)


if not TRACES.is_dir():
    program.skip("no corpus of traces ($STRATA_CORPUS)")
check_counts()
check_refused()
check_lost_packets()
check_both_languages()
check_golden()
