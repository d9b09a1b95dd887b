#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real KVM host and its guest, both recorded by strata at the same time, seen together.

What strata tells of virtual CPUs, and of both machines on one timeline, agrees with what the raw
entries, exits and switches say: they are counted here again, from the events as they are shown.
"""

import bisect
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "record"))
import guest_options
import machine

SECONDS = 60  # for moments, of which there are at most so many
MOMENTS = 1000

# Both of the guest's processors are busy, then idle, then busy again.
GUEST = """hostname inner
until head -c 2 /dev/vda | grep -q go; do echo 3 >/proc/sys/vm/drop_caches; sleep 0.2; done
cat >load <<'END'
echo 'guest: works'
work() { for i in 1 2 3 4 5; do ls -lR /bin >/dev/null; sleep 0.1; done; }
work & work & wait
echo 'guest: worked'
END
strata record -o rec --clock x86-tsc --no-state -e sched:sched_switch -e sched:sched_waking \
  -e sched:sched_wakeup -- sh load
tar -c rec | dd of=/dev/vda bs=64k conv=fsync 2>/dev/null
echo 'guest: recorded'
"""

# While the guest works the host has more to do than two processors can, so that it has to wait. Not
# all the time: it is slow enough as it is.
HOST = """mkdir out
hostname outer
echo 'the guest is up'
strata record -o out/host --clock x86-tsc --no-state --buffer-size 16M -e sched:sched_switch \
  -e sched:sched_waking -e sched:sched_wakeup -e kvm:kvm_entry -e kvm:kvm_exit -- sh both.sh
cd out
tar -x -f /tmp/guest.disk
"""
BOTH = """kvm=/sys/kernel/debug/kvm
cat $kvm/*-*/vcpu0/pid $kvm/*-*/vcpu1/pid >out/threads
cat $kvm/*-*/vcpu0/tsc-offset $kvm/*-*/vcpu1/tsc-offset >out/offsets
guest() {
  until grep -q "^guest: $1" /tmp/guest.log; do sleep 0.2; done
  echo "the guest $1"
}
printf go | dd of=/tmp/guest.disk conv=notrunc 2>/dev/null
guest works
burn() { while :; do i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done; sleep 0.02; done; }
burn &
burns=$!
guest worked
kill $burns
guest recorded
"""


def boot(folder):
    """The folder with both recordings. The emulator may hang, mostly when it has too little of this
    machine's time: then once more."""
    (folder / "host.sh").write_text(HOST)
    (folder / "both.sh").write_text(BOTH)
    # Without what debuggers read: the guest has all of its files in its memory.
    small = folder / "strata"
    subprocess.run(["strip", "-o", small, machine.STRATA], check=True)
    for _ in range(3):
        done = subprocess.run(
            [HERE / "run", "--put", folder / "host.sh", "--put", folder / "both.sh", "--guest-put",
             small, "--guest-command", GUEST, "--get", f"out:{folder}/out", "--timeout", "100", "--",
             "sh", "host.sh"], stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, end="", flush=True)
        if done.returncode not in (124, 125):
            break
    if done.returncode == 77:
        sys.exit(77)
    if done.returncode in (124, 125):
        machine.skip("the emulated machines hung, three times")
    assert done.returncode == 0, done.returncode
    return folder / "out"


class Intervals:
    """What was true from when on; asked for moments."""

    def __init__(self):
        self.times, self.values = [], []

    def set(self, time_ns, value):
        self.times.append(time_ns)
        self.values.append(value)

    def at(self, time_ns, otherwise=None):
        place = bisect.bisect_right(self.times, time_ns) - 1
        return self.values[place] if place >= 0 else otherwise


class Host:
    """What its raw events say of its CPUs, and of the threads that are virtual CPUs."""

    def __init__(self, events, threads):
        self.running = collections.defaultdict(Intervals)  # by CPU: which thread
        self.doing = collections.defaultdict(Intervals)    # by virtual CPU: guest, preempted, other
        self.guest_ns = collections.Counter()
        self.preempted_ns = collections.Counter()
        self.exits = collections.Counter()
        numbers = {tid: number for number, tid in enumerate(threads)}
        entered, waits = {}, {}
        for event in events:
            at, fields, tid = event["ts_ns"], event["fields"], event["tid"]
            name = event["event"]
            if name == "kvm_entry":
                entered[tid] = at
                self.doing[numbers[tid]].set(at, "guest")
            elif name == "kvm_exit":
                self.exits[tid] += 1
                self.doing[numbers[tid]].set(at, "other")
                if tid in entered:
                    self.guest_ns[tid] += at - entered.pop(tid)
            elif name == "sched_switch":
                self.running[event["cpu"]].set(at, fields["next_pid"])
                out, into = fields["prev_pid"], fields["next_pid"]
                if out in numbers:
                    ready = fields["prev_state"] & 0xff == 0
                    self.doing[numbers[out]].set(at, "preempted" if ready else "other")
                    if ready:
                        waits[out] = at
                if into in numbers:
                    self.doing[numbers[into]].set(at, "other")
                    if into in waits:
                        self.preempted_ns[into] += at - waits.pop(into)
            elif fields["pid"] in numbers:  # woken, while it sleeps
                woken = fields["pid"]
                state = self.doing[numbers[woken]]
                is_out = all(cpu.values[-1] != woken for cpu in self.running.values())
                if is_out and state.values and state.values[-1] == "other" and woken not in waits:
                    waits[woken] = at
                    state.set(at, "preempted")
        # What goes on at the end goes on to the end.
        for tid, since in entered.items():
            self.guest_ns[tid] += at - since
        for tid, since in waits.items():
            self.preempted_ns[tid] += at - since


# Exits that the kernel, and strata, call otherwise than libtraceevent does.
OTHER_NAMES = {"INTERRUPT": "INTR", "IO": "IOIO"}


def statistics(host, raw, threads):
    """Time in the guest, exits and waiting, in all and by reason."""
    told = json.loads(machine.fine("stats", "--json", "--by", "tid,mode", host))
    virt = {row["tid"]: row["cpu_ns"] for row in told["rows"] if row["mode"] == "VIRT"}
    assert virt == raw.guest_ns, (virt, raw.guest_ns)
    assert set(virt) == set(threads), (virt, threads)
    vcpus = {vcpu["tid"]: vcpu for vcpu in json.loads(
        machine.fine("stats", "--exits", "--json", host))["vcpus"]}
    # The reasons as libtraceevent's plugin shows them.
    reasons = collections.defaultdict(collections.Counter)
    for line in machine.fine("dump", host, "-e", "kvm_exit").splitlines():
        before, _, behind = line.partition("kvm_exit:")
        thread = int(before.split("[")[0].rsplit("-", 1)[1])
        reasons[thread][behind.split("reason ")[1].split()[0]] += 1
    for tid in threads:
        vcpu = vcpus[tid]
        exits = {exit["reason"]: exit["count"] for exit in vcpu["exits"] if exit["count"] > 0}
        theirs = {name.removeprefix("EXIT_").upper(): count for name, count in reasons[tid].items()}
        ours = {OTHER_NAMES.get(name.upper(), name.upper()): count
                for name, count in exits.items()}
        assert ours == theirs, (ours, theirs)
        assert sum(exits.values()) == raw.exits[tid], (exits, raw.exits)
        assert vcpu["state_ns"]["guest"] == raw.guest_ns[tid], vcpu
        # The rule here is a simple one: it does not see each wait that begins with a wake-up.
        preempted, by_rule = vcpu["state_ns"]["preempted"], raw.preempted_ns[tid]
        assert abs(preempted - by_rule) <= by_rule / 100 > 0, (vcpu, raw.preempted_ns)
        assert sum(vcpu["state_ns"].values()) == told["span_ns"], (vcpu, told["span_ns"])
    return ours


def sums(host, guest):
    """Of each machine's CPUs, the times of all modes add up to the span."""
    told = json.loads(machine.fine("stats", "--json", "--by", "machine,cpu", host, guest))
    assert len(told["rows"]) == 4, told["rows"]
    for row in told["rows"]:
        assert row["cpu_ns"] == told["span_ns"], (row, told["span_ns"])


def within_guest_time(events, raw):
    """A guest's event happens while its virtual CPU runs the guest."""
    checked = 0
    for event in events:
        doing = raw.doing[event["cpu"]].at(event["ts_ns"])
        assert doing == "guest", (event, doing)
        checked += 1
    return checked


def fused(host, guest, raw, guest_events, threads):
    """What each physical CPU really runs, and what each virtual one really does, at any moment."""
    tasks = collections.defaultdict(Intervals)
    for event in guest_events:
        if event["event"] == "sched_switch":
            tasks[event["cpu"]].set(event["ts_ns"], event["fields"]["next_pid"])
    begin = max(cpu.times[0] for cpu in tasks.values())
    end = min(event["ts_ns"] for event in guest_events[-1:])
    edges = sorted({at for intervals in (*raw.doing.values(), *raw.running.values(),
                                         *tasks.values()) for at in intervals.times})
    chance = random.Random(7)
    stop, checked, seen = time.monotonic() + SECONDS, 0, collections.Counter()
    while checked < MOMENTS and time.monotonic() < stop:
        at = chance.randrange(begin, end)
        place = bisect.bisect_left(edges, at)
        if place < len(edges) and edges[place] == at:
            continue
        outer, inner = json.loads(machine.fine("state", "--json", "--at", at, host, guest))["machines"]
        assert (outer["machine"], inner["machine"]) == ("outer", "inner"), outer["machine"]
        for cpu in outer["cpus"]:
            thread = raw.running[cpu["cpu"]].at(at)
            assert cpu["tid"] == thread, (at, cpu, thread)
            number = threads.index(thread) if thread in threads else None
            if number is None or raw.doing[number].at(at) != "guest":
                assert "runs" not in cpu, (at, cpu)
                continue
            runs = cpu["runs"]
            assert (runs["machine"], runs["cpu"]) == ("inner", number), (at, cpu)
            assert runs["tid"] == tasks[number].at(at), (at, cpu, tasks[number].at(at))
            seen["runs a guest's task" if runs["tid"] else "runs an idle guest"] += 1
        for cpu in inner["cpus"]:
            really, truth = cpu["really"]["state"], raw.doing[cpu["cpu"]].at(at)
            assert (really == "guest") == (truth == "guest"), (at, cpu, truth)
            seen["waits by one rule only"] += (really == "preempted") != (truth == "preempted")
            seen[really] += 1
        checked += 1
    assert seen["waits by one rule only"] <= checked / 100, seen
    assert checked >= 50 and seen["guest"] and seen["preempted"], (checked, seen)
    return f"{checked} moments: {dict(seen)}"


def main():
    if shutil.which("strip") is None:
        machine.skip("no strip")
    with tempfile.TemporaryDirectory(prefix="strata-fused-vm-") as name:
        out = boot(pathlib.Path(name))
        # In folders of their own: an index goes beside a recording.
        host, guest = out / "host/host.dat", out / "rec/host.dat"
        threads = list(map(int, (out / "threads").read_text().split()))
        offsets = list(map(int, (out / "offsets").read_text().split()))
        guest_options.tie(host, guest, "inner", offsets, threads)
        for trace in host, guest:
            told = machine.info(trace)
            assert told["lost"] == 0 and told["lost_unknown"] == 0, told
        raw = Host(machine.events(host), threads)
        guest_events = [event for event in machine.events(host, guest)
                        if event["machine"] == "inner"]
        print(f"{len(guest_events)} events of the guest, {sum(raw.exits.values())} exits, "
              f"preempted {dict(raw.preempted_ns)}")
        print("exits:", statistics(host, raw, threads))
        sums(host, guest)
        print("within guest time:", within_guest_time(guest_events, raw))
        print("fused:", fused(host, guest, raw, guest_events, threads))


main()
