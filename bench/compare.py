# SPDX-License-Identifier: Apache-2.0
"""Runs two programs in turns, A B A B ..., and says which costs less.

In turns, because a machine changes speed while it is measured: what slows one down then slows the
other down too. CPU time (user and system) rather than wall time, because that is what a busy
machine pays. A benchmark is a short script, bench/NAME/run:

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    import compare

    compare.main("tracedat", lambda options: [
        compare.Case("dump as text", ["build/release/strata", "dump", trace],
                     "trace-cmd report", ["trace-cmd", "report", trace]),
    ])
"""

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import time


@dataclasses.dataclass
class Case:
    """One row of the table: the same job done by us and by a peer.

    measure is one of
      cpu    CPU seconds; nanoseconds an event when events is given
      rss    most memory resident, in MB, mapped files included; never less than this script's own
      anon   most memory resident without mapped files, in MB, sampled every 5 ms
    events is how many events each side handles: a number, or a pair (ours, the peer's).
    """

    name: str
    ours: list
    peer: str
    peer_command: list
    measure: str = "cpu"
    events: object = None


def run(command, measure="cpu"):
    """Runs the command once, its output thrown away, and returns what the measure says."""
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        anon = 0
        if measure == "anon":
            # stderr is read at the end only: a pipe holds 64 KB, which a program that is
            # measured does not fill.
            while True:
                pid, status, usage = os.wait4(child.pid, os.WNOHANG)
                if pid:
                    break
                anon = max(anon, _anonymous_kb(child.pid))
                time.sleep(0.005)
            errors = child.stderr.read()
        else:
            errors = child.stderr.read()
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {child.returncode}\n"
                 f"{errors.decode(errors='replace')}")
    return {"cpu": usage.ru_utime + usage.ru_stime,
            "rss": usage.ru_maxrss / 1024,
            "anon": anon / 1024}[measure]


def _anonymous_kb(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0  # it has just ended


def compare(case, rounds):
    """Measures one case; the row as --json gives it. Values are medians, *_min the minima."""
    ours, theirs = [], []
    run(case.ours, case.measure)  # the first run of each warms the page cache and does not count
    run(case.peer_command, case.measure)
    for _ in range(rounds):
        ours.append(run(case.ours, case.measure))
        theirs.append(run(case.peer_command, case.measure))
    unit = "s" if case.measure == "cpu" else "MB"
    if case.events is not None and case.measure == "cpu":
        pair = case.events if isinstance(case.events, tuple) else (case.events, case.events)
        ours = [value * 1e9 / pair[0] for value in ours]
        theirs = [value * 1e9 / pair[1] for value in theirs]
        unit = "ns/event"
    return row(case.name, statistics.median(ours), case.peer, statistics.median(theirs), unit,
               ours_min=min(ours), peer_min=min(theirs))


def row(name, ours, peer, peer_value, unit, **more):
    """A row of values for which less is better. bar=R: the ratio is to be at least R."""
    return {"name": name, "ours": ours, "peer": peer, "peer_value": peer_value, "unit": unit,
            "ratio": peer_value / max(ours, 1e-9), **more}


def missing(name, ours, peer, why, unit="", **more):
    """The row of something that could not be measured here; ours is None when that is us."""
    return {"name": name, "ours": ours, "peer": peer, "peer_value": None, "unit": unit,
            "ratio": None, "why": why, **more}


def main(bench, cases, add_options=lambda parser: None):
    """The main program of a benchmark. cases(options) gives the cases, or rows made by row()."""
    parser = argparse.ArgumentParser(prog=f"bench/run {bench}")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=10, metavar="N",
                        help="measure each N times (10)")
    add_options(parser)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    rows = []
    for case in cases(options):
        if isinstance(case, Case):
            print(f"{bench}: {case.name} ...", file=sys.stderr)
            case = compare(case, options.rounds)
        rows.append(case)
    if options.json:
        print(json.dumps({"bench": bench, "rows": rows}))
    else:
        print_table(rows)


def print_table(rows):
    """Median and, in brackets, minimum of each side."""
    def short(number):
        return f"{number:.3g}" if abs(number) < 1000 else f"{number:.0f}"

    def value(row, key, least):
        if row[key] is None:
            return "-"
        text = short(row[key])
        return f"{text} ({short(row[least])})" if least in row else text

    def ratio(row):
        if row["ratio"] is None:
            return "not measured"
        text = f"{row['ratio']:.2f}" if row["ratio"] < 1000 else "> 1000"
        return f"{text} (bar {row['bar']:.2f})" if "bar" in row else text

    table = [("what", "strata", "peer", "", "unit", "ratio")]
    for line in rows:
        table.append((line["name"], value(line, "ours", "ours_min"), line["peer"],
                      value(line, "peer_value", "peer_min"), line["unit"], ratio(line)))
    widths = [max(len(cells[i]) for cells in table) for i in range(len(table[0]))]
    for cells in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip())
    for line in rows:
        if "why" in line:
            print(f"\n{line['name']}, {line['peer']}: not measured: {line['why']}")
    print("\nmedian (least) of all rounds; a ratio above 1: strata is better")
