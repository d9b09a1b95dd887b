# SPDX-License-Identifier: Apache-2.0
"""What recording all the time costs a machine that computes: sysbench alone, with strata record
(sched_switch and three counters, rings of 1 MB) to disk, and with top at one second.

Differences of sysbench's own score are smaller than what a machine changes by itself from one run to
the next, so they come with their confidence interval. What can be had exactly is accounted for: the
recorder's own CPU time while sysbench ran, and for each event what it was measured to cost in the
kernel, by a pipe's round trips.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys

import compare
from recorders import Failed, Strata

EVENTS = ["-e", "sched_switch", "--counters", "task-clock,page-faults,cpu-migrations",
          "--buffer-size", "1M"]
SWITCHES_A_ROUND_TRIP = 2
# Of Student's distribution, 95 %, by degrees of freedom.
STUDENT = {2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26, 14: 2.14,
           19: 2.09, 29: 2.05}


def score(seconds):
    """Events a second, as sysbench counts what it computes."""
    done = subprocess.run(["sysbench", "cpu", f"--threads={os.cpu_count()}", f"--time={seconds}",
                           "run"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"events per second:\s*([0-9.]+)", done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"sysbench: {done.stdout}")
    return float(found[1])


def difference(values, base):
    """Percent by which these scores are lower, paired round by round, and the 95 % interval."""
    shares = [(1 - value / plain) * 100 for value, plain in zip(values, base)]
    if len(shares) < 3:
        return f"{statistics.mean(shares):+.2f} %, too few rounds for an interval"
    student = STUDENT[max(freedom for freedom in STUDENT if freedom <= len(shares) - 1)]
    half = student * statistics.stdev(shares) / len(shares) ** 0.5
    return f"{statistics.mean(shares):+.2f} % +- {half:.2f}"


def cost_of_a_switch(folder, pinned_round_trip):
    """Nanoseconds in the kernel, for an event with its counters."""
    plain, traced = [], []
    for _ in range(5):
        plain.append(pinned_round_trip())
        with Strata(folder, EVENTS):
            traced.append(pinned_round_trip())
    return max(min(traced) - min(plain), 0) / SWITCHES_A_ROUND_TRIP


def rows(options, folder, say, pinned_round_trip):
    seconds = options.sysbench_seconds
    what = "recording, of the whole machine"
    if shutil.which("sysbench") is None:
        yield compare.missing(what, None, "at most", "no sysbench here", "%", bar=1)
        return
    say(f"sysbench, {options.rounds} rounds of 3 x {seconds} s")
    alone, recorded, watched, own, events, top_cpu = [], [], [], [], [], []
    try:
        cost = cost_of_a_switch(folder, pinned_round_trip)
        for _ in range(options.rounds):
            alone.append(score(seconds))
            with Strata(folder, EVENTS) as recorder:
                before = recorder.cpu()
                recorded.append(score(seconds))
                own.append(recorder.cpu() - before)
            events.append(recorder.events)
            with subprocess.Popen(["top", "-b", "-d", "1"], stdout=subprocess.DEVNULL) as top:
                watched.append(score(seconds))
                top.terminate()
                _, _, usage = os.wait4(top.pid, 0)
                top.returncode = 0
                top_cpu.append(usage.ru_utime + usage.ru_stime)
    except Failed as error:
        yield compare.missing(what, None, "at most", str(error), "%", bar=1)
        return
    machine = seconds * os.cpu_count()
    accounted = [(used + count * cost / 1e9) / machine * 100 for used, count in zip(own, events)]
    print(f"record: sysbench {statistics.median(alone):.0f}/s alone; with strata record it was less "
          f"by {difference(recorded, alone)}, with top by {difference(watched, alone)}; "
          f"{statistics.median(events):.0f} events at {cost:.0f} ns; top's own CPU time "
          f"{statistics.median(top_cpu) / machine * 100:.3f} % of the machine", file=sys.stderr)
    yield compare.row(what, statistics.median(accounted), "at most", 0.05, "%",
                      ours_min=min(accounted), bar=1)
