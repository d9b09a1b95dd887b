#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The periods of a load that knows itself what it did, on this machine's kernel.

A program burns CPU, one sleeps across many periods, and children live only for a moment and end
with codes of their own. The machine may be busy: no bound depends on how fast anything is.
"""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "record"))
import machine  # noqa: E402

LOAD = r"""
import json, os, resource, sys, time

facts = {"codes": {}}
for code in (3, 5, 250):
    pid = os.fork()
    if pid == 0:
        os._exit(code)
    os.waitpid(pid, 0)
    facts["codes"][pid] = code
for name, work in (("burn", lambda: sum(range(8_000_000))), ("sleep", lambda: time.sleep(0.7))):
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        work()
        used = resource.getrusage(resource.RUSAGE_SELF)
        os.write(into, str(int((used.ru_utime + used.ru_stime) * 1e9)).encode())
        os._exit(0)
    facts[name] = {"tid": pid, "cpu_ns": int(os.read(out, 100))}
    os.waitpid(pid, 0)
with open(sys.argv[1] + "/facts", "w") as file:
    json.dump(facts, file)
"""

MS = 1_000_000
ON_CPU = ("running_ns", "user_ns", "syscall_ns", "trap_ns", "virt_ns", "kernel_ns", "exiting_ns")


def check(folder):
    recording = folder / "recording"
    machine.fine("record", "-o", recording, "-e", "sched", "-e", "raw_syscalls", "-e", "task",
                 "-e", "irq", "--", sys.executable, "-S", "-c", LOAD, folder)
    facts = json.loads((folder / "facts").read_text())
    lines = machine.fine("stats", recording, "--period", "100ms", "--json").splitlines()
    periods = [json.loads(line) for line in lines]
    assert len(periods) > 7, len(periods)
    for before, after in zip(periods, periods[1:]):
        assert before["end_ns"] == after["begin_ns"]
        assert (before["end_ns"] - before["begin_ns"]) % (100 * MS) == 0

    def rows(tid):
        return [row for period in periods for row in period["machines"][0].get("tasks", [])
                if row["tid"] == tid]

    # Programs that no program that looks now and then would have seen.
    for pid, code in facts["codes"].items():
        ended = [row for row in rows(int(pid)) if row.get("ended_here")]
        assert len(ended) == 1 and ended[0].get("exit_code", 0) == code, (pid, code, ended)
        assert sum(row.get("born_here", False) for row in rows(int(pid))) == 1

    for name in ("burn", "sleep"):
        told = rows(facts[name]["tid"])
        low = sum(row.get(column, 0) for row in told for column in ON_CPU)
        high = low + sum(row.get(column, 0) for row in told for column in ("irq_ns", "softirq_ns"))
        truth = facts[name]["cpu_ns"]
        assert low * 0.95 - 3 * MS <= truth <= high * 1.05 + 3 * MS, (name, low, truth, high)

    # It slept over several edges: in the periods without a row it did what the row before says.
    slept = 0
    last = None
    for period in periods:
        row = next((row for row in period["machines"][0].get("tasks", [])
                    if row["tid"] == facts["sleep"]["tid"]), None)
        if row is not None:
            slept += row.get("wait_timer_ns", 0)
            last = row.get("state")
        elif last == "wait-timer":
            slept += period["end_ns"] - period["begin_ns"]
    assert slept >= 700 * MS, slept

    # CPUs do something all the time, and all together is what the whole says.
    whole = {}
    for row in json.loads(machine.fine("stats", recording, "--json", "--by", "cpu,mode"))["rows"]:
        whole[row["cpu"], row["mode"]] = row["cpu_ns"]
    if any(cpu.get("corrections") for period in periods for cpu in period["machines"][0]["cpus"]):
        return
    for mode in ("USER", "SYSCALL", "IDLE", "IRQ", "SOFTIRQ", "UNKNOWN"):
        for number in {cpu for cpu, _ in whole}:
            together = sum(cpu.get(mode.lower() + "_ns", 0) for period in periods
                           for cpu in period["machines"][0]["cpus"] if cpu["cpu"] == number)
            assert together == whole.get((number, mode), 0), (mode, number)


tracefs = machine.Tracefs()
with tempfile.TemporaryDirectory(prefix="strata-period-") as name:
    try:
        check(pathlib.Path(name))
    finally:
        tracefs.close()
