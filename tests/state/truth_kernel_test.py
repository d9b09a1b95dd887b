#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the state engine says of programs that know themselves what they did.

They burn CPU, sleep, wait for a pipe, a lock, a child, a descriptor, the disk and pages of it, and
move between CPUs; getrusage and their own clock say how long. The machine may be busy: waiting takes at least as
long as asked for, and no bound depends on how fast anything is.
"""

import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "record"))
import machine  # noqa: E402

LOAD = r"""
import json, mmap, os, resource, select, sys, threading, time

def burn():
    sum(range(12_000_000))

def sleep():
    time.sleep(0.2)

def pipe():
    here, there = os.pipe(), os.pipe()
    if os.fork() == 0:
        for _ in range(300):
            os.read(there[0], 1)
            time.sleep(0.0002)
            os.write(here[1], b"x")
        os._exit(0)
    for _ in range(300):
        os.write(there[1], b"x")
        os.read(here[0], 1)

def lock():
    held = threading.Lock()
    held.acquire()
    waiting = threading.Thread(target=lambda: (facts.update(tid=threading.get_native_id()),
                                               held.acquire()))
    waiting.start()
    time.sleep(0.3)
    held.release()
    waiting.join()

def child():
    pid = os.fork()
    if pid == 0:
        time.sleep(0.2)
        os._exit(0)
    os.waitpid(pid, 0)

def poll():
    select.poll().poll(200)

def disk():
    path = sys.argv[1] + "/cold"
    with open(path, "wb") as file:
        file.write(os.urandom(1 << 20) * 16)
        file.flush()
        os.fsync(file.fileno())
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    before = read_bytes()
    while os.read(file, 1 << 20): pass
    facts["read_bytes"] = read_bytes() - before

def fault():
    path = sys.argv[1] + "/mapped"
    pages = 64
    with open(path, "wb") as file:
        file.write(os.urandom(4096) * 16 * pages)
        file.flush()
        os.fsync(file.fileno())
    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        mapped.madvise(mmap.MADV_RANDOM)  # no other page comes along
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        for page in range(pages):
            mapped[page * 16 * 4096]
        facts["major"] = resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before

def read_bytes():
    with open("/proc/self/io") as io:
        return int(next(line for line in io if line.startswith("read_bytes")).split()[1])

def stolen_ns():
    with open("/proc/stat") as stat:
        return int(stat.readline().split()[8]) * 10 ** 9 // os.sysconf("SC_CLK_TCK")

def move():
    cpus = sorted(os.sched_getaffinity(0))
    for i in range(40):
        os.sched_setaffinity(0, {cpus[i % len(cpus)]})
    facts["cpus"] = len(cpus)

told = {}
for work in (burn, sleep, pipe, lock, child, poll, disk, fault, move):
    out, into = os.pipe()
    if os.fork() == 0:
        facts = {"tid": os.getpid()}
        stolen = stolen_ns()
        began = time.monotonic_ns()
        work()
        facts["elapsed_ns"] = time.monotonic_ns() - began
        used = resource.getrusage(resource.RUSAGE_SELF)
        facts["cpu_ns"] = int((used.ru_utime + used.ru_stime) * 1e9)
        facts["voluntary"], facts["involuntary"] = used.ru_nvcsw, used.ru_nivcsw
        facts["stolen_ns"] = stolen_ns() - stolen
        os.write(into, json.dumps(facts).encode())
        os._exit(0)
    os.close(into)
    told[work.__name__] = json.loads(os.read(out, 4096))
    os.close(out)
    os.wait()
with open(sys.argv[1] + "/facts", "w") as file:
    json.dump(told, file)
"""

MS = 1_000_000


def check(folder):
    recording = folder / "recording"
    machine.fine("record", "-o", recording, "-e", "sched", "-e", "raw_syscalls", "-e", "irq",
                 "-e", "irq_vectors", "-e", "task", "-e", "exceptions", "--", sys.executable, "-S",
                 "-c", LOAD, folder)
    facts = json.loads((folder / "facts").read_text())
    told = machine.info(recording)
    assert told["lost"] == 0 and told["lost_unknown"] == 0, told
    tasks = {}
    for task in json.loads(machine.fine("ps", recording, "-T", "--all", "--json"))["machines"][0]["tasks"]:
        tasks[task["tid"]] = task
    stats = json.loads(machine.fine("stats", recording, "--json", "--by", "tid,mode"))
    modes = {(row["tid"], row["mode"]): row["cpu_ns"] for row in stats["rows"]}

    def waited(name, state):
        return tasks[facts[name]["tid"]]["state_ns"].get(state, 0)

    # CPU time, by the kernel's own reckoning, which charges interrupts to whom they hit, and leaves
    # out what the hypervisor below this machine took meanwhile.
    for name in ("burn", "sleep", "child", "poll", "move"):
        ours = tasks[facts[name]["tid"]]
        interrupts = sum(ours["state_ns"].get(state, 0) for state in ("irq", "softirq"))
        low, high = ours["cpu_ns"], ours["cpu_ns"] + interrupts
        truth = facts[name]["cpu_ns"]
        stolen = facts[name]["stolen_ns"]
        # It read its own account a little before its end.
        assert low * 0.95 - 3 * MS - stolen <= truth <= high * 1.05 + 3 * MS, \
            (name, low, truth, high, stolen)
    burnt = modes[facts["burn"]["tid"], "USER"]
    assert burnt > 0.8 * facts["burn"]["cpu_ns"], (burnt, facts["burn"])

    for name, state, least in (("sleep", "wait-timer", 200), ("lock", "wait-futex", 250),
                               ("child", "wait-child", 180), ("poll", "wait-poll", 200)):
        ns = waited(name, state)
        assert least * MS <= ns <= facts[name]["elapsed_ns"], (name, ns, tasks[facts[name]["tid"]])
    pipe = tasks[facts["pipe"]["tid"]]["state_ns"]
    blocked = {state: ns for state, ns in pipe.items()
               if state.startswith("wait-") and state != "wait-cpu"}
    assert blocked["wait-pipe"] > 300 * 0.2 * MS, blocked
    assert blocked["wait-pipe"] > 0.9 * sum(blocked.values()), blocked
    if facts["disk"]["read_bytes"] > 0:
        assert waited("disk", "wait-disk") > 0, tasks[facts["disk"]["tid"]]
    # The kernel's own reckoning; a few switches may not be recorded, a few sleeps be for a lock.
    major = facts["fault"]["major"]
    ours = tasks[facts["fault"]["tid"]]["major_faults"]
    assert abs(ours - major) <= 8 + major // 10, (ours, facts["fault"])
    if facts["move"]["cpus"] > 1:
        assert tasks[facts["move"]["tid"]]["migrations"] >= 39, tasks[facts["move"]["tid"]]

    # Each wait began with a switch that the kernel counted as voluntary.
    for name in ("sleep", "pipe", "child", "poll"):
        wakeups = tasks[facts[name]["tid"]]["wakeups"]
        assert abs(wakeups - facts[name]["voluntary"]) <= 5, (name, wakeups, facts[name])
    assert stats["unknown_task_ns"] < 0.2 * stats["cpu_ns"], stats["unknown_task_ns"]


tracefs = machine.Tracefs()
with tempfile.TemporaryDirectory(prefix="strata-state-") as name:
    try:
        check(pathlib.Path(name))
    finally:
        tracefs.close()
