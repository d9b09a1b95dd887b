#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recording in chunks: nothing is lost or doubled between them, and the oldest go."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

import machine

KILLS = int(os.environ.get("STRATA_KILLS", "4"))
SEED = int(os.environ.get("STRATA_SEED", str(random.randrange(1 << 30))))
# Many chunks of little: see src/record/chunks.cc.
os.environ["STRATA_CHUNK_BYTES"] = str(64 << 10)
QUICK = ["--sync", "100ms", *machine.WRITES]


def chunks(folder):
    return sorted(path for path in folder.iterdir() if (path / "recording.json").exists())


def description(chunk):
    return json.loads((chunk / "recording.json").read_text())


def has_begun(folder):
    return folder.exists() and any((chunk / "host.dat").exists() for chunk in chunks(folder))


def head_size(folder):
    """Of a chunk while it is recorded."""
    out = folder / "keep-head"
    recorder = machine.start("-o", out, "--keep", "1h", *QUICK)
    assert machine.wait_for(lambda: has_begun(out), 30)
    size = (chunks(out)[0] / "host.dat").stat().st_size
    machine.stop(recorder)
    return size


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def in_trace_cmd(chunk):
    report = subprocess.run(["trace-cmd", "report", chunk / "host.dat"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, errors="replace", check=True)
    return sum(1 for line in report.stdout.splitlines() if not line.startswith("cpus="))


def whole(chunk):
    """A chunk is a finished recording of its own, with its own starting state."""
    parts = {part["what"]: part for part in description(chunk)["parts"]}
    assert {"kernel", "state"} <= set(parts), parts
    assert all(part["finished"] and part["lost"] == 0 for part in parts.values()), parts
    assert not list(chunk.glob("host.dat.cpu*")), list(chunk.iterdir())
    session = description(chunk)["sessions"][0]
    assert 0 < session["begin_ns"] <= session["end_ns"], session
    states = {e["event"] for e in machine.events(chunk / "host-state")}
    assert {"lttng_statedump_start", "lttng_statedump_process_state"} <= states, states
    if shutil.which("trace-cmd"):
        assert in_trace_cmd(chunk) == machine.info(chunk / "host.dat")["events"]


def each_once(folder):
    """Every write is in exactly one chunk, whatever chunk it is in; readers come at any time."""
    out = folder / "keep-once"
    load = machine.NumberedWrites(60_000, 1500, 0.1)
    recorder = machine.start("-o", out, "--keep", "1h", *QUICK)
    assert machine.wait_for(lambda: has_begun(out), 30)
    load.go()
    looks = 0
    while load.process.poll() is None:
        done = machine.run("info", "--json", out)
        assert done.returncode == 0, done.stderr
        looks += 1
    load.wait()
    machine.stop(recorder)
    positions = [position for position, _ in load.recorded(out)]
    assert positions == list(range(60_000)), (len(positions), len(set(positions)))
    found = chunks(out)
    assert len(found) >= 3, found
    for chunk in found:
        whole(chunk)
    told = machine.info(out)
    assert told["lost"] == 0 and told["lost_unknown"] == 0, told["lost"]
    # Any span of it opens.
    writes = load.recorded(out)
    begin, end = writes[20_000][1], writes[40_000][1]
    span = machine.events(out, "-e", "sys_enter_pwrite64", "--tid", load.pid, "--begin", begin,
                          "--end", end)
    wanted = [position for position, at in writes if begin <= at <= end]
    assert [event["fields"]["pos"] for event in span] == wanted, len(span)
    return f"{len(found)} chunks, opened {looks} times meanwhile"


def counters(folder):
    """Performance counters go on from one chunk to the next."""
    out = folder / "keep-counters"
    machine.fine("record", "-o", out, "--keep", "10s", "--counters", "context-switches",
                 "-e", "sched:sched_switch", "--duration", "4s")
    found = chunks(out)
    assert len(found) >= 2, found
    last = {}
    for chunk in found:
        parts = {part["what"]: part for part in description(chunk)["parts"]}
        assert parts["counters"]["finished"], parts
        readings = machine.events(chunk / "host-counters")
        assert readings, chunk
        for reading in readings:
            count = reading["fields"]["context_switches"]
            assert count >= last.get(reading["cpu"], 0), (chunk, reading)
            last[reading["cpu"]] = count


def bounded(folder, most):
    """The oldest chunks go, the latest stay, and all of it is no more than was asked for."""
    out = folder / "keep-bounded"
    load = machine.NumberedWrites(0, 2000, 0.1)
    recorder = machine.start("-o", out, "--max-size", most, *QUICK)
    assert machine.wait_for(lambda: has_begun(out), 30)
    first = chunks(out)[0]
    load.go()
    assert machine.wait_for(lambda: not first.exists(), 120)
    load.kill()
    machine.stop(recorder)
    positions = [position for position, _ in load.recorded(out)]
    assert positions, "nothing was kept"
    assert positions == list(range(positions[0], positions[-1] + 1)), positions[0]
    assert positions[0] > 0
    assert size_of(out) <= most, size_of(out)
    assert {path.name for path in out.iterdir()} == {path.name for path in chunks(out)}
    return f"{len(positions)} of {positions[-1] + 1} writes kept in {size_of(out)} bytes"


def by_time(folder):
    """What is older than --keep goes."""
    out = folder / "keep-time"
    recorder = machine.start("-o", out, "--keep", "2s", "-e", "sched:sched_switch")
    assert machine.wait_for(lambda: out.exists() and chunks(out), 30)
    first = chunks(out)[0]
    assert machine.wait_for(lambda: not first.exists(), 60)
    stopped = time.time_ns()
    machine.stop(recorder)
    ends = [description(chunk)["sessions"][0]["end_ns"] for chunk in chunks(out)]
    assert ends and min(ends) >= stopped - 2_000_000_000, (ends, stopped)


def killed(folder, chance, number, most):
    """Every chunk opens, whenever the recorder is killed, and recover finishes them all."""
    out = folder / f"keep-killed{number}"
    load = machine.NumberedWrites(0, 1500, 0.05)
    recorder = machine.start("-o", out, "--max-size", most, *QUICK)
    load.go()
    machine.wait_for(lambda: out.exists() and len(chunks(out)) > 1, 30)
    time.sleep(chance.uniform(0.0, 2.5))
    recorder.send_signal(signal.SIGKILL)
    recorder.communicate()
    load.kill()
    told = machine.run("info", "--json", out)
    assert told.returncode == 0, told.stderr
    positions = [position for position, _ in load.recorded(out)]
    assert len(set(positions)) == len(positions), "doubled"
    machine.fine("recover", out)
    assert [position for position, _ in load.recorded(out)] == positions
    for chunk in chunks(out):
        assert not list(chunk.glob("host.dat.cpu*")), list(chunk.iterdir())
    return f"{len(chunks(out))} chunks, {len(positions)} writes"


def full_disk(folder):
    """A disk without room ends it with a message; every chunk opens."""
    small = folder / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", small], check=True)
    load = machine.NumberedWrites(0, 3000, 0.02)
    try:
        recorder = machine.start("-o", small / "keep-full", "--max-size", "1G", "--compression",
                                 "none", *QUICK)
        load.go()
        _, told = recorder.communicate(timeout=300)
        assert recorder.returncode == 1 and "No space left on device" in told, told
        assert machine.run("info", small / "keep-full").returncode == 0
        positions = [position for position, _ in load.recorded(small / "keep-full")]
        assert len(positions) > 1000 and len(set(positions)) == len(positions), len(positions)
    finally:
        load.kill()
        subprocess.run(["umount", small], check=True)


tracefs = machine.Tracefs()
chance = random.Random(SEED)
print(f"STRATA_SEED={SEED}")
try:
    with tempfile.TemporaryDirectory(prefix="strata-keep-") as name:
        folder = pathlib.Path(name)
        print("each once:", each_once(folder))
        counters(folder)
        # A head may have the kernel's symbols, which are most of so small a chunk.
        most = 3 * head_size(folder) + (1 << 20)
        print("bounded:", bounded(folder, most))
        by_time(folder)
        for number in range(KILLS):
            print("killed:", killed(folder, chance, number, most))
        full_disk(folder)
        own = {"strata-" + path.name for path in folder.iterdir()}
        assert not own & tracefs.instances(), tracefs.instances()
finally:
    tracefs.close()
