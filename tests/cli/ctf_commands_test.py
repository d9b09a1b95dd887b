#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user does with CTF traces: follow one that grows, trim, merge with another format."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import time

import program

TRACE = program.CORPUS / "ctf/tracecompass/context-switches/context-switches-ust"
SMALL = program.CORPUS / "ctf/babeltrace-2.1/ctf-traces/1/succeed/trace-with-index"


def events(*arguments):
    return [json.loads(line) for line in program.lines("dump", "--json", *arguments)]


def check_trim(folder):
    everything = events(TRACE)
    begin, end = everything[1000]["ts_ns"], everything[2000]["ts_ns"]
    out = folder / "part"
    program.lines("trim", TRACE, "--begin", begin, "--end", end, "-o", out)
    wanted = [e for e in everything if begin <= e["ts_ns"] <= end]
    part = events(out)
    for event in part + wanted:
        event.pop("trace")
    assert part == wanted and len(part) > 900, (len(part), len(wanted))
    again = program.run("trim", TRACE, "-o", out)
    assert again.returncode == 1 and b"already" in again.stderr, again.stderr


def check_follow(folder):
    """A packet that is whole is shown; one that is still being written waits for its end."""
    grows = folder / "grows"
    grows.mkdir()
    shutil.copy(SMALL / "metadata", grows)
    stream = (SMALL / "ust_channel_0").read_bytes()
    assert len(stream) == 5 * 4096
    with open(grows / "ust_channel_0", "wb") as out, open(folder / "shown", "wb") as shown:
        out.write(stream[:4096])
        out.flush()
        first = len(events(grows))
        dump = subprocess.Popen([program.PROGRAM, "dump", "--json", "--follow", grows],
                                stdout=shown)
        try:
            def wait_for(lines):
                for _ in range(200):
                    if (folder / "shown").read_bytes().count(b"\n") == lines:
                        return
                    time.sleep(0.05)
                raise AssertionError((lines, (folder / "shown").read_bytes().count(b"\n")))
            wait_for(first)
            out.write(stream[4096:10000])  # a packet and a part of the next
            out.flush()
            time.sleep(0.3)
            out.write(stream[10000:])
            out.flush()
            out.close()
            wait_for(len(events(grows)))
        finally:
            dump.terminate()
            dump.wait()


def check_merge_of_formats():
    """Two formats, on two clocks: one timeline, and a word that it means little."""
    done = program.run("dump", "--json", TRACE, program.SAMPLE)
    assert done.returncode == 0 and b"different clocks" in done.stderr, done.stderr
    merged = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(merged) == len(events(TRACE)) + len(events(program.SAMPLE))
    times = [event["ts_ns"] for event in merged]
    assert times == sorted(times)
    assert {event["trace"] for event in merged} == {TRACE.name, program.SAMPLE.name}


def check_json_of_nested_fields():
    trace = program.CORPUS / "ctf/babeltrace-2.1/ctf-traces/1/succeed/struct-array-align-elem"
    event, = events(trace)
    assert event["fields"] == {"x": 1, "y.a": 5, "y.b": [], "z": 9}, event


if not TRACE.is_dir():
    program.skip("no corpus of traces ($STRATA_CORPUS)")
with tempfile.TemporaryDirectory() as name:
    check_trim(pathlib.Path(name))
    check_follow(pathlib.Path(name))
check_merge_of_formats()
check_json_of_nested_fields()
