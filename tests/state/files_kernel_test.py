#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Descriptors and requests to disks, of a program that knows what it did and what the kernel says.

It opens, copies, passes on and closes descriptors, moves bytes through them, and at its end reads
its own /proc/PID/fd and /proc/PID/io. Requests are compared with the raw events of the recording,
and with what the disks say in /sys/block. While it is recorded, a session is followed, and asked
about.
"""

import atexit
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "record"))
import machine  # noqa: E402

PROGRAM = r"""
import fcntl, json, os, socket, sys
folder = sys.argv[1]
def rw():
    with open("/proc/self/io") as io:
        told = dict(line.split(": ") for line in io.read().split("\n") if line)
    return int(told["rchar"]), int(told["wchar"])
rw()
before = rw()
own = len(open("/proc/self/io").read())  # about what one such reading counts itself
data = os.open(folder + "/data", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
for _ in range(50):
    os.write(data, b"x" * 70000)
os.fsync(data)
os.lseek(data, 0, 0)
while os.read(data, 60000): pass
copy = os.dup2(data, 77)
os.pwrite(copy, b"y" * 123, 0)
closed = os.open("/etc/passwd", os.O_RDONLY)
os.read(closed, 10)
os.close(closed)
moved = fcntl.fcntl(data, fcntl.F_DUPFD_CLOEXEC, 90)
out, into = os.pipe()
os.write(into, b"z" * 1000)
os.read(out, 1000)
here, there = socket.socketpair()
here.send(b"s" * 500)
there.recv(500)
listening = socket.socket(socket.AF_INET)
keep = os.open("/dev/null", os.O_RDONLY)
fcntl.fcntl(keep, fcntl.F_SETFD, 0)
child = os.fork()
if child == 0:
    os.execv("/bin/sleep", ["sleep", "0.3"])
after = rw()
fds = {}
for name in os.listdir("/proc/self/fd"):
    try:
        fds[int(name)] = os.readlink("/proc/self/fd/" + name)
    except OSError:
        pass  # the folder itself, while it was read
facts = {"pid": os.getpid(), "child": child, "fds": fds, "data": data, "copy": copy, "moved": moved,
         "keep": keep, "closed": closed, "rchar": after[0] - before[0],
         "wchar": after[1] - before[1], "slack": 8 * (own + 4096)}
with open(folder + "/facts", "w") as file:
    json.dump(facts, file)
os.waitpid(child, 0)
os._exit(0)
"""


def ask(path, sql):
    return json.loads(machine.fine("query", path, "--json", sql))


def check_descriptors(recording, facts):
    pid = facts["pid"]
    rows = ask(recording, f"SELECT * FROM fd WHERE pid = {pid}")
    at_exit = {row["fd"]: row for row in rows if row["closed_by"] == "exit"}
    for name, target in facts["fds"].items():
        if int(name) <= 2:
            continue  # it had them before anything was recorded, and did not use them
        assert int(name) in at_exit, (name, target, at_exit.keys())
    # Those that the program closed itself after it had looked: its file of facts, the folder.
    extra = set(at_exit) - {int(name) for name in facts["fds"]}
    assert not extra, (extra, [at_exit[fd] for fd in extra])

    data, copy, moved = (at_exit[facts[name]] for name in ("data", "copy", "moved"))
    assert (data["opened_by"], copy["opened_by"], moved["opened_by"]) == (
        "openat", "dup2", "fcntl"), (data, copy, moved)
    assert data["close_on_exec"] == 1 and moved["close_on_exec"] == 1 and copy["close_on_exec"] == 0
    assert (data["writes"], data["written_bytes"], data["read_bytes"]) == (
        50, 50 * 70000, 50 * 70000), data
    assert (copy["writes"], copy["written_bytes"]) == (1, 123), copy
    closed = [row for row in rows if row["fd"] == facts["closed"] and row["closed_by"] == "close"
              and row["read_bytes"] == 10]
    assert len(closed) == 1, rows

    # The kernel's sums leave out sockets, and we what the program did before it first looked.
    ours = ask(recording, f"SELECT sum(read_bytes) r, sum(written_bytes) w FROM fd WHERE pid = {pid}"
                          " AND kind NOT LIKE '%socket'")[0]
    assert ours["w"] >= facts["wchar"] >= 50 * 70000 + 123 + 1000, (ours, facts)
    assert ours["r"] + facts["slack"] >= facts["rchar"] >= 50 * 70000 + 1010, (ours, facts)

    # The child inherits, until exec closes what was marked; what it then has it keeps to its end.
    child = ask(recording, f"SELECT * FROM fd WHERE pid = {facts['child']} AND opened_by = 'fork'")
    by_fd = {row["fd"]: row["closed_by"] for row in child}
    assert by_fd[facts["data"]] == "exec" and by_fd[facts["moved"]] == "exec", by_fd
    assert by_fd[facts["copy"]] in ("exit", "close") and by_fd[facts["keep"]] == "exit", by_fd

    # At a moment in the middle of it, ps says the same.
    at = max(row["begin"] for row in rows if row["fd"] in (facts["keep"],)) + 1
    told = json.loads(machine.fine("ps", recording, "--files", "--json", "--at", str(at)))
    task = next(task for task in told["machines"][0]["tasks"] if task["tid"] == pid)
    then = {row["fd"] for row in rows if row["begin"] <= at < row["end"]}
    assert {file["fd"] for file in task["files"]} == then, (task["files"], then)
    file = next(file for file in task["files"] if file["fd"] == facts["data"])
    assert file["written_bytes"] == 50 * 70000, file


def check_requests(recording, completed_before, completed_after):
    raw = ask(recording, """SELECT time, name, dev, sector, nr_sector FROM event
                            WHERE name IN ('block_rq_issue', 'block_rq_complete')""")
    # Each completion of the sectors that were issued is a request, from its last issue.
    issued, expected = {}, []
    for event in raw:
        if not event["nr_sector"]:
            continue
        place = (event["dev"], event["sector"])
        if event["name"] == "block_rq_issue":
            issued[place] = event
        elif place in issued and issued[place]["nr_sector"] == event["nr_sector"]:
            expected.append((issued.pop(place)["time"], event["time"], event["sector"]))
    rows = ask(recording, "SELECT * FROM block_io WHERE completed IS NOT NULL")
    found = {(row["issued"], row["completed"], row["sector"]) for row in rows}
    missing = [one for one in expected if one not in found]
    assert not missing and len(expected) > 0, (missing[:5], len(expected))
    for row in rows:
        assert row["queued"] is None or row["queued"] <= row["issued"], row
        assert row["device_ns"] == row["completed"] - row["issued"], row
        assert row["end"] == row["completed"] and row["duration"] >= row["device_ns"], row
    # The disks count all that anybody did while the recording was made, and a little more.
    for disk, before in completed_before.items():
        ours = [row for row in rows if row["device"] == disk and row["operation"] in ("read", "write")]
        assert len(ours) <= completed_after[disk] - before, (disk, len(ours))


def completed_requests():
    counts = {}
    for stat in pathlib.Path("/sys/block").glob("*/stat"):
        numbers = [int(word) for word in stat.read_text().split()]
        counts[stat.parent.name] = numbers[0] + numbers[4]
    return counts


def check(folder):
    recording = folder / "files"
    before = completed_requests()
    machine.fine("record", "-o", recording, "-e", "sched", "-e", "syscalls", "-e", "task", "-e",
                 "block", "--", sys.executable, "-S", "-c", PROGRAM, folder)
    after = completed_requests()
    told = machine.info(recording)
    assert told["lost"] == 0 and told["lost_unknown"] == 0, told
    check_descriptors(recording, json.loads((folder / "facts").read_text()))
    check_requests(recording, before, after)


def check_following(folder):
    recording = folder / "followed"
    recorder = machine.start("-o", recording, "-e", "sched", "-e", "raw_syscalls", "--duration",
                             "8s")
    machine.wait_for(lambda: (recording / "host.dat").exists())
    follower = subprocess.Popen([machine.STRATA, "state", recording, "--follow", "--json"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    atexit.register(follower.kill)
    lines = [json.loads(follower.stdout.readline()) for _ in range(2)]
    # What comes first may be of its first moments, in which nothing has told of modes yet.
    while all(cpu["mode"] == "UNKNOWN" for cpu in lines[-1]["machines"][0]["cpus"]):
        assert len(lines) < 6, lines
        lines.append(json.loads(follower.stdout.readline()))
    times = [line["machines"][0]["time_ns"] for line in lines]
    assert all(before < after for before, after in zip(times, times[1:])), lines
    # Others find what it has written, and more of it later.
    ends = []
    for _ in range(2):
        ends.append(ask(recording, "SELECT max(end) e FROM cpu_state")[0]["e"])
        time.sleep(1.5)
    assert lines[0]["machines"][0]["time_ns"] <= ends[0] < ends[1], (lines, ends)
    files = [file.name for file in (recording / ".index").iterdir()]
    assert files and all(name.startswith("live-") for name in files), files
    assert recorder.wait(60) == 0
    _, complaints = follower.communicate(timeout=60)
    assert follower.returncode == 0, complaints
    # Of what is finished, an index of the whole.
    whole = ask(recording, "SELECT max(end) e FROM cpu_state")[0]["e"]
    assert whole > ends[1], (whole, ends)
    last = ask(recording, "SELECT max(time) t FROM event")[0]["t"]
    assert whole == last, (whole, last)


tracefs = machine.Tracefs()
with tempfile.TemporaryDirectory(prefix="strata-files-", dir="/var/tmp") as name:
    try:
        check(pathlib.Path(name))
        check_following(pathlib.Path(name))
    finally:
        tracefs.close()
