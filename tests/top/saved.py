# SPDX-License-Identifier: Apache-2.0
"""Saved periods with known content, as `strata top` and `strata stats --period --json` write them."""

import json

SECOND = 1_000_000_000
MS = 1_000_000
BEGIN = 1_600_000_000 * SECOND  # 2020-09-13 12:26:40 UTC
EVIL = "evil\x1b[2J\x1b]0;title\x07"


def task(pid, name, state, **more):
    return {"pid": pid, "tid": pid, "start_ns": BEGIN - 1000 + pid, "name": name,
            "state_before": state, "state": state, **more}


def period(number):
    """Second `number`: mysqld runs 10 % more in each; in the fourth `cp` lives and ends."""
    tasks = [task(100, "mysqld", "wait-disk", user=27, user_ns=100 * MS * number,
                  syscall_ns=50 * MS, wait_disk_ns=950 * MS - 100 * MS * number,
                  read_bytes=2_000_000 * number, reads=20, in_calls_ns=20 * 500_000,
                  memory_bytes=512_000_000),
             task(200, "nginx", "wait-poll", user=33, container="web", user_ns=20 * MS,
                  wait_poll_ns=980 * MS, net_written_bytes=1_000_000)]
    if number == 0:
        tasks += [task(300 + i, f"idle{i:02}", "wait-timer", user=0, wait_timer_ns=SECOND)
                  for i in range(30)]
        tasks.append(task(250, EVIL, "wait-timer", user=0, wait_timer_ns=SECOND))
    if number == 4:
        cp = task(500, "cp", "user", user=0, parent=200, born_here=True, ended_here=True,
                  exit_code=7, user_ns=123_456_789)
        del cp["state"]
        del cp["state_before"]
        tasks.append(cp)
    busy = (170 + 100 * number) * MS
    machine = {
        "name": "host1", "events": 5000 + number, "processes": 33, "threads": 33 + number,
        "open_files": 1234, "connections": 17, "observer_ns": 100_000, "observing_ns": 200_000,
        "user_ns": busy, "idle_ns": 2 * SECOND - busy,
        "estimated": {"task": ["syscall_ns"]}, "unknown": {"task": ["faults"]},
        "cpus": [{"cpu": 0, "user_ns": busy, "idle_ns": SECOND - busy},
                 {"cpu": 1, "user_ns": 0, "idle_ns": SECOND}],
        "tasks": tasks,
        "vcpus": [{"tid": 601, "pid": 600, "vm": "web-vm", "vcpu": 0, "state": "halted",
                   "preempter": "mysqld", "guest_ns": 600 * MS, "halted_ns": 300 * MS,
                   "preempted_ns": 100 * MS, "exits": 4321}],
        "vms": [{"pid": 600, "name": "web-vm", "vcpus": 1, "guest_ns": 600 * MS,
                 "halted_ns": 300 * MS, "preempted_ns": 100 * MS, "exits": 4321}],
        "exits": [{"pid": 600, "reason": "HLT", "exits": 4321, "hypervisor_ns": 5 * MS}],
        "files": [{"identity": "name", "kind": "file", "name": "/var/lib/mysql/ibdata1",
                   "reads": 20, "read_bytes": 2_000_000 * number}],
        "descriptors": [{"pid": 100, "descriptor": 7, "identity": "name", "kind": "file",
                         "name": "/var/lib/mysql/ibdata1", "reads": 20,
                         "read_bytes": 2_000_000 * number}],
        "devices": [{"device": 8, "name": "sda", "busy_ns": 250 * MS, "requests": 20,
                     "read_bytes": 2_000_000 * number}],
        "interfaces": [{"name": "eth0", "packets_in": 100, "read_bytes": 150_000,
                        "written_bytes": 1_000_000}],
        "latencies": [{"what": "syscall", "name": "fsync", "count": 3, "sum_ns": 15_000_000,
                       "histogram": [0] * 23 + [3]}],
    }
    return {"begin_ns": BEGIN + number * SECOND, "end_ns": BEGIN + (number + 1) * SECOND,
            "source": "live", "clock": "epoch", "machines": [machine]}


def write(path, count=8):
    with open(path, "w", encoding="ascii") as file:
        for number in range(count):
            file.write(json.dumps(period(number)) + "\n")
