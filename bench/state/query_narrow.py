#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A narrow question about a large trace, in SQL: one thread's events within 10 ms of 100 million.

The trace has 64 CPUs, an event every 100 ns and a thousand threads. It is made once, takes 4 GB and is
kept in build/bench. CPU time of the whole program (one thread), its start included, with the trace in the
page cache where the question leads.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import compare  # noqa: E402

STRATA = ROOT / "build/release/strata"
INTERLEAVE = ROOT / "build/release/bench/tracedat/interleave"
TRACES = ROOT / "build/bench"
CPUS, EVENTS = 64, 100_000_000
BAR_MS = 50
MIDDLE = 1_000_000_000_000 + EVENTS * 100 // 2  # of its times, in ns
THREAD = 500


def trace():
    path = TRACES / f"interleave-{CPUS}-{EVENTS // 1_000_000}m.dat"
    if not path.exists():
        print(f"query_narrow: making {path.name} ...", file=sys.stderr)
        TRACES.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        subprocess.run([INTERLEAVE, unfinished, str(CPUS), str(EVENTS)], check=True)
        os.replace(unfinished, path)
    return path


def rows(options):
    path = trace()
    period = f"time BETWEEN {MIDDLE} AND {MIDDLE + 10_000_000 - 1}"
    questions = {
        "one thread, 10 ms of 100 M events": f"tid = {THREAD} AND {period}",
        "one CPU and thread, 10 ms of 100 M events": f"cpu = 3 AND tid = {THREAD} AND {period}",
    }
    for name, condition in questions.items():
        sql = f"SELECT time, cpu, name, comm, pid, target_cpu FROM event WHERE {condition}"
        command = [STRATA, "query", "--json", path, sql]
        found = json.loads(subprocess.check_output(command))  # which warms the page cache, too
        if not found:
            sys.exit(f"{name}: nothing was found")
        times = [compare.run(command) * 1e3 for _ in range(options.rounds)]
        yield compare.row(f"SQL: {name}, {len(found)} rows", statistics.median(times), "at most",
                          BAR_MS, "ms", ours_min=min(times))


if __name__ == "__main__":
    compare.main("state/query_narrow.py", rows)
