#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How a cgroup with a CPU limit is throttled is in the recording, as the kernel itself counts it."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import cgroups
import machine


def part(folder):
    told = json.loads((folder / "recording.json").read_text())["parts"]
    return next((one for one in told if one["what"] == "cgroups"), None)


@contextlib.contextmanager
def recording(out, *words):
    name = f"throttling{os.getpid()}"
    recorder = machine.start("-o", out, "--name", name, *words)
    # It answers, though not as wished, once it has nothing to do but to record.
    answers = lambda: "no flight" in machine.run("session", "snapshot", name).stderr
    try:
        assert machine.wait_for(answers, 30), recorder.poll()
        yield recorder
        machine.stop(recorder)
    finally:
        recorder.kill()


def only_grows(samples):
    for before, after in zip(samples, samples[1:]):
        for name in ("nr_periods", "nr_throttled", "throttled_ns"):
            assert before[name] <= after[name], (before, after)


def agrees_with_the_kernel(folder):
    """From the first sample to the last; a cgroup that gets its limit meanwhile is found."""
    out = folder / "throttling-agrees"
    with contextlib.closing(cgroups.Cgroup("agrees")) as cgroup, \
            contextlib.closing(cgroups.Cgroup("late")) as late:
        cgroup.limit()
        before = cgroup.wait_until_quiet()
        with recording(out, "-e", "sched:sched_switch", "-e", "syscalls") as recorder:
            begin = time.time_ns()
            cgroup.burn()
            after = cgroup.wait_until_quiet()
            late.limit()
            assert machine.wait_for(lambda: late.samples(out / "host-cgroups"), 60)
        samples = cgroup.samples(out / "host-cgroups")
        assert samples[0] == before, (samples[0], before)
        assert samples[-1] == after, (samples[-1], after)
        assert after["nr_throttled"] > before["nr_throttled"] and after["throttled_ns"] > 0, after
        assert len(samples) >= 3, samples
        only_grows(samples)
        assert part(out)["finished"] and part(out)["lost_unknown"] == 0, part(out)
        in_order_with_the_rest(out)
        of_this_machine(out)
        leaves_itself_out(out, recorder.pid, begin)
    return f"throttled {after['nr_throttled']} times, {len(samples)} samples"


def in_order_with_the_rest(out):
    """On the clock of the events."""
    clocks = {one["clock"] for one in json.loads((out / "recording.json").read_text())["parts"]}
    assert len(clocks) == 1, clocks
    session = json.loads((out / "recording.json").read_text())["sessions"][0]
    times = [event["ts_ns"] for event in machine.events(out / "host-cgroups")]
    slack = 10_000_000  # the trace tells the clock's line as it was known when it began
    assert session["begin_ns"] - slack <= min(times), (session, times)
    assert max(times) <= session["end_ns"] + slack, (session, times)
    if shutil.which("babeltrace2"):
        lines = subprocess.run(["babeltrace2", out / "host-cgroups"], stdout=subprocess.PIPE,
                               text=True, check=True).stdout.splitlines()
        assert len(lines) == len(times), (len(lines), len(times))
        assert all("cgroup_cpu_stat: " in line for line in lines), lines


def of_this_machine(out):
    """It is told of the machine whose kernel is in the other parts, and adds no CPU."""
    told = json.loads(machine.fine("stats", "--json", "--by", "machine,cpu", out))
    assert {row["machine"] for row in told["rows"]} == {os.uname().nodename}, told
    assert {row["cpu"] for row in told["rows"]} <= set(range(os.cpu_count())), told


def leaves_itself_out(out, recorder, begin):
    """The calls that samples and searches take are not recorded."""
    # Of no others: on a busy machine they are millions.
    own = [event["event"] for event in machine.events(out / "host.dat", "-e", "syscalls:*",
                                                      "--tid", recorder)
           if event["ts_ns"] > begin]
    calls = {"openat2", "getdents64", "preadv2", "pwritev2", "close_range",
             "pread64", "pwrite64", "lseek", "close"}
    made = [name for name in own if name.split("_", 2)[-1] in calls]
    assert not made, made


def appears_with_the_first_limit(folder):
    """Without a limit there is no trace; with the first there is, while it records."""
    out = folder / "throttling-appears"
    with contextlib.closing(cgroups.Cgroup("appears")) as cgroup:
        with recording(out, "-e", "sched:sched_process_exec"):
            if (out / "host-cgroups").exists():
                return "other cgroups of this machine have limits already"
            cgroup.limit()
            assert machine.wait_for(lambda: part(out), 60)
            assert not part(out)["finished"], part(out)
            assert cgroup.samples(out / "host-cgroups")
        assert part(out)["finished"], part(out)
    return "found"


def goes_on_in_chunks(folder):
    """Each chunk begins and ends with a sample, and the next one goes on from there."""
    out = folder / "throttling-chunks"
    with contextlib.closing(cgroups.Cgroup("chunks")) as cgroup:
        cgroup.limit()
        with recording(out, "-e", "sched:sched_process_exec", "--keep", "10s"):
            cgroup.burn()
            after = cgroup.wait_until_quiet()
            chunks = lambda: sorted(path.parent for path in out.glob("*/recording.json"))
            assert machine.wait_for(lambda: len(chunks()) >= 2, 60), chunks()
        samples = []
        for chunk in chunks():
            assert part(chunk)["finished"], (chunk, part(chunk))
            own = cgroup.samples(chunk / "host-cgroups")
            assert len(own) >= 2, (chunk, own)
            samples += own
        only_grows(samples)
        assert samples[-1] == after, (samples[-1], after)
        return f"{len(chunks())} chunks"


def main():
    cgroups.remove_leftovers()
    tracefs = machine.Tracefs()
    try:
        with tempfile.TemporaryDirectory(prefix="strata-throttling-") as name:
            for test in agrees_with_the_kernel, appears_with_the_first_limit, goes_on_in_chunks:
                print(f"{test.__name__}: {test(pathlib.Path(name))}")
    finally:
        tracefs.close()


if __name__ == "__main__":
    main()
