#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is sampled beside the events is charged to whom it belongs: performance counters to the tasks
that ran, as getrusage tells of them; throttling to cgroups, as their kernel counts it."""

import contextlib
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "record"))
import cgroups  # noqa: E402
import machine  # noqa: E402

# Processes that fault, that switch and that burn, and what the kernel says of each.
LOAD = r"""
import json, mmap, os, resource, sys, time

def fault():
    room = mmap.mmap(-1, 4096 * 3000)
    for page in range(3000):
        room[page * 4096] = 1

def switch():
    for _ in range(400):
        time.sleep(0.0005)

def burn():
    sum(range(9_000_000))

facts = {}
for work in fault, switch, burn:
    told = os.pipe()
    child = os.fork()
    if child == 0:
        work()
        used = resource.getrusage(resource.RUSAGE_SELF)
        os.write(told[1], json.dumps({
            "pid": os.getpid(), "faults": used.ru_minflt,
            "switches": used.ru_nvcsw + used.ru_nivcsw,
            "cpu_ns": time.process_time_ns()}).encode())
        os._exit(0)
    facts[work.__name__] = json.loads(os.read(told[0], 4096))
    os.waitpid(child, 0)
with open(sys.argv[1] + "/facts", "w") as file:
    json.dump(facts, file)
"""


def rows(recording, *options):
    return json.loads(machine.fine("stats", "--json", recording, *options))["rows"]


def charged(out, counter, by="tid"):
    found = {}
    for row in rows(out, "--by", by):
        found[row[by]] = found.get(row[by], 0) + row.get("counters", {}).get(counter, 0)
    return found


def counters_are_charged_to_who_ran(folder):
    out = folder / "counters"
    machine.fine("record", "-o", out, "--profile", "sched", "--counters",
                 "minor-faults,context-switches,task-clock", "--", sys.executable, "-S", "-c", LOAD,
                 folder)
    facts = json.loads((folder / "facts").read_text())
    told = {counter: charged(out, counter)
            for counter in ("minor-faults", "context-switches", "task-clock")}
    whole = {counter: sum(counts.values()) for counter, counts in told.items()}
    unknown = {counter: counts.get(None, 0) for counter, counts in told.items()}
    # perf now and then leaves out a switch: what was counted around it is nobody's. Forking and
    # ending come to what getrusage tells from within.
    for name, counter, fact, more in (("fault", "minor-faults", "faults", 300),
                                      ("switch", "context-switches", "switches", 10),
                                      ("burn", "task-clock", "cpu_ns", 20_000_000)):
        truth, ours = facts[name][fact], told[counter].get(facts[name]["pid"], 0)
        assert truth - unknown[counter] - more <= ours <= truth * 1.05 + more, \
            (name, truth, ours, unknown)
        assert ours > 0.5 * truth, (name, truth, ours, unknown)
    # Each difference is in one row, however rows are told apart, and all of them are there.
    for counter in told:
        assert sum(charged(out, counter, "cpu").values()) == whole[counter], counter
        assert sum(charged(out, counter, "mode").values()) == whole[counter], counter
        last, first = {}, {}
        for event in machine.events(out / "host-counters"):
            count = event["fields"][counter.replace("-", "_")]
            first.setdefault(event["cpu"], count)
            last[event["cpu"]] = count
        assert sum(last.values()) - sum(first.values()) == whole[counter], counter
    tasks = {task["tid"]: task for task in json.loads(
        machine.fine("ps", "--json", "--all", "-T", out))["machines"][0]["tasks"]}
    burnt = tasks[facts["burn"]["pid"]]
    assert burnt["counters"]["task-clock"] == told["task-clock"][facts["burn"]["pid"]], burnt
    # A reading after its end makes no task anew.
    assert len([task for task in tasks if task == facts["burn"]["pid"]]) == 1
    # In periods it is the same, of tasks and of the machine.
    column = {"minor-faults": "minor_page_faults", "context-switches": "context_switches",
              "task-clock": "task_clock_ns"}
    periods = [json.loads(line)["machines"][0] for line in machine.fine(
        "stats", "--json", out, "--period", "100ms").splitlines()]
    for counter, counts in told.items():
        assert column[counter] not in periods[-1]["unknown"]["task"], counter
        assert sum(period.get(column[counter], 0) for period in periods) == whole[counter], counter
        for tid, count in counts.items():
            if tid:
                assert sum(task.get(column[counter], 0) for period in periods
                           for task in period["tasks"] if task["tid"] == tid) == count, (counter, tid)
    known_states(out)
    return f"{unknown} of {whole} are nobody's"


def known_states(out):
    """Counters do not make it less known who ran: only around switches that the kernel left out."""
    told = json.loads(machine.fine("stats", "--json", out))
    assert told["losses"] == 0, told["losses"]
    assert told["unknown_task_ns"] < 0.2 * told["cpu_ns"], \
        (told["unknown_task_ns"], told["cpu_ns"], told["missed_switches"])


def throttling_is_beside_waiting(folder):
    out = folder / "throttled"
    with contextlib.closing(cgroups.Cgroup("beside")) as cgroup:
        cgroup.limit()
        before = cgroup.wait_until_quiet()
        with cgroup.burning() as load:
            recorder = machine.start("-o", out, "--name", f"beside{os.getpid()}", "--profile", "sched")
            assert machine.wait_for((out / "host-cgroups/cgroups").exists, 60)
            load.communicate(b"\n", timeout=120)
        after = cgroup.wait_until_quiet()
        machine.stop(recorder)
        samples = cgroup.samples(out / "host-cgroups")
    ours = {row["cgroup"]: row for row in rows(out, "--by", "cgroup")}[cgroup.name]
    assert ours["throttled_ns"] == samples[-1]["throttled_ns"] - samples[0]["throttled_ns"], ours
    assert 0 < ours["throttled_ns"] <= after["throttled_ns"] - before["throttled_ns"], (ours, after)
    # The load has been in it since before the recording began: it waited about as long.
    assert ours["waiting_ns"] > 0, ours
    assert "cgroup throttled s" in machine.fine("stats", out, "--by", "cgroup")
    assert "throttled" not in machine.fine("stats", out, "--by", "comm")
    (task,) = [task for task in json.loads(
        machine.fine("ps", "--json", "--all", out))["machines"][0]["tasks"]
        if task["tid"] == load.pid]
    assert task["cgroup"] == cgroup.name, task
    assert task["cgroup_throttled_ns"] == ours["throttled_ns"], task
    return f"throttled {ours['throttled_ns']} ns, its task waited {ours['waiting_ns']} ns"


cgroups.remove_leftovers()
tracefs = machine.Tracefs()
try:
    with tempfile.TemporaryDirectory(prefix="strata-samples-") as name:
        for test in counters_are_charged_to_who_ran, throttling_is_beside_waiting:
            print(f"{test.__name__}: {test(pathlib.Path(name))}")
finally:
    tracefs.close()
