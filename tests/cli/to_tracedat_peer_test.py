#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CTF traces that have become trace.dat: stock trace-cmd reports the same events, times and values."""

import json
import math
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

import program

TRACES = [
    "lttng-ref-traces/basic-kernel-analysis",  # a kernel
    "nested-kvm/host",                         # with contexts that are called like fields
    "tracecompass/context-switches/context-switches-ust",
    "tracecompass/hello-lost",                 # losses, arrays, sequences, floating-point numbers
    "tracecompass/ros2",
    "tracecompass/CTF2-vl-ints",
    "babeltrace-2.1/ctf-traces/1/succeed/struct-array-align-elem",
    "babeltrace-2.1/ctf-traces/1/succeed/meta-variant-one-underscore",
]

LINE = re.compile(r"-(-?\d+) +\[(\d+)\] +(\d+)\.?(\d*): (\S+): *(.*)", re.DOTALL)


def name_of(text):
    name = re.sub("[^A-Za-z0-9]", "_", text)
    return "_" + name if not name or name[0].isdigit() else name


def as_shown(value):
    """What trace-cmd shows for a value."""
    if isinstance(value, list) and all(isinstance(element, int) for element in value):
        return " ".join(map(str, value))
    if isinstance(value, (list, dict)):
        return None  # as JSON, checked by its fields' names alone
    return str(value)


def expected_fields(event):
    own = {name_of(name): value for name, value in event["fields"].items()}
    for name, value in event.get("context", {}).items():
        name = name_of(name)
        yield ("context_" + name if name in own else name), value
    yield from own.items()


def is_same_number(text, value):
    try:
        number = float(text)
    except ValueError:
        return False
    # A number of 32 bits is shown with no more digits than these need.
    return (math.isclose(number, value, rel_tol=1e-12)
            or struct.pack("f", number) == struct.pack("f", value))


def check_values(event, shown):
    for name, value in expected_fields(event):
        found = re.search(r"(?:^| )" + re.escape(name) + "=(.*)", shown, re.DOTALL)
        assert found, (name, shown)
        text = as_shown(value)
        if value is None or text is None:
            continue
        if value == []:  # of numbers, or, as JSON, of structures
            assert found[1].startswith("[]") or found[1] == "" or found[1][0] == " ", (name, shown)
            continue
        if isinstance(value, float):
            assert is_same_number(found[1].split(" ")[0], value), (name, value, shown)
        elif "\n" not in text:
            # trace-cmd shows unprintable characters as dots.
            text = re.sub("[^ -~]", ".", text)
            rest = re.sub("[^ -~]", ".", found[1])
            assert rest == text or rest.startswith(text + " "), (name, value, shown)


def report(path):
    """Every event that trace-cmd shows, and how many it says were lost."""
    done = subprocess.run(["trace-cmd", "report", "-t", "-i", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=250, check=True)
    text = done.stdout.decode(errors="replace")
    lost = sum(map(int, re.findall(r"^CPU:\d+ \[(\d+) EVENTS DROPPED\]", text, re.MULTILINE)))
    events = []
    for line in text.splitlines():
        found = LINE.search(line)
        if found:
            tid, cpu, seconds, rest, name, shown = found.groups()
            time = int(seconds) * 10**9 + int(rest or 0) if rest else int(seconds)
            # A thread's name may end in "-" too; there is no other below 0 than -1, for nobody knows.
            tid = int(tid) if tid == "-1" else int(tid.lstrip("-"))
            events.append((time, int(cpu), tid, name, shown))
    return events, lost


def check(trace, out):
    done = program.run("convert", trace, "--to", "tracedat", "-o", out)
    assert done.returncode == 0, (trace, done.stderr)
    events = [json.loads(line) for line in program.run("dump", "--json", trace).stdout.splitlines()]
    theirs, lost = report(out)
    assert len(events) == len(theirs) > 0, (trace, len(events), len(theirs))
    assert sum(event.get("lost", 0) for event in events) == lost, (trace, lost)
    # Events of one time may come in another order: streams of one CPU have become one.
    events.sort(key=lambda event: (event["ts_ns"], event["cpu"], name_of(event["event"])))
    theirs.sort(key=lambda event: (event[0], event[1], event[3]))
    for event, (time, cpu, tid, name, shown) in zip(events, theirs):
        assert (event["ts_ns"], event["cpu"], name_of(event["event"])) == (time, cpu, name), (
            event, time, cpu, name)
        assert (-1 if event["tid"] is None else event["tid"]) == tid, (event, tid)
        check_values(event, shown)
    # The way that strata itself reads it, and says what time it was.
    again, before = (json.loads(program.run("info", "--json", path).stdout)
                     for path in (out, trace))
    for key in ("events", "lost", "lost_unknown", "begin_ns", "end_ns"):
        assert again[key] == before[key], (trace, key, again[key], before[key])


if shutil.which("trace-cmd") is None:
    program.skip("no trace-cmd")
if not (program.CORPUS / "ctf").is_dir():
    program.skip("no corpus of traces ($STRATA_CORPUS)")
with tempfile.TemporaryDirectory() as name:
    for trace in TRACES:
        check(program.CORPUS / "ctf" / trace, pathlib.Path(name) / "out.dat")
