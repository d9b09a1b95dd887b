#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata top` on a real KVM host: the live tables of a virtual machine's whole life tell what a
recording of it tells, and what KVM itself counted."""

import collections
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "record"))
import host
import machine

# The machine is made, works and is stopped for good between the first and the last table, and
# within the recording. When it is stopped nothing is counted any more, so all counts are final.
HOST = """set -e
mkdir out
strata top --json --screens vm -d 500ms >out/live.jsonl &
top=$!
until [ -s out/live.jsonl ]; do sleep 0.1; done
strata record -o out/host --no-state --buffer-size 32M EVENTS -- sh life.sh
tables=$(wc -l <out/live.jsonl)
until [ $(wc -l <out/live.jsonl) -gt $((tables + 1)) ]; do sleep 0.1; done
kill -INT $top
wait $top
"""
EVENTS = """task:task_rename sched:sched_switch sched:sched_waking sched:sched_wakeup_new
sched:sched_process_exit irq:irq_handler_entry irq:irq_handler_exit irq:softirq_entry
irq:softirq_exit irq_vectors:local_timer_entry irq_vectors:local_timer_exit
kvm:kvm_entry kvm:kvm_exit kvm:kvm_userspace_exit kvm:kvm_inj_virq kvm:kvm_apic_ipi
kvm:kvm_mmio kvm:kvm_pio kvm:kvm_msr kvm:kvm_page_fault"""
LIFE = """out=$PWD/out
start-guest
guest() { until grep -q "^guest: $1" /tmp/guest.log; do sleep 0.1; done; }
burn() { while :; do i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done; sleep 0.02; done; }
burn & burns=$!
burn & burns="$burns $!"
guest worked
kill $burns
sleep 1
guest=$(cat /run/guest.pid)
kill -STOP $guest
until ! grep -L "^State:.T" /proc/$guest/task/*/status | grep -q .; do sleep 0.1; done
cd /sys/kernel/debug/kvm/$guest-*
for counter in exits halt_exits io_exits; do echo $counter $(cat $counter); done >$out/counters
cat vcpu0/pid vcpu1/pid >$out/threads
echo $guest >$out/guest
kill -KILL $guest
for thread in $(cat $out/threads); do
  while [ -d /proc/$thread ]; do sleep 0.1; done
done
"""
GUEST = """for i in 1 2 3; do ls -lR /bin >/dev/null; sleep 0.1; done
dd if=/dev/zero of=/dev/vda bs=4k count=16 conv=fsync 2>/dev/null
echo 'guest: worked'
sleep 1000
"""


# What watching costs lies before one's stamp and behind the other's, and is slow where it is emulated:
# so much of a time, and so many nanoseconds.
WATCHING = 0.05, 50e6


def boot(folder):
    life = folder / "life.sh"
    life.write_text(LIFE)
    events = " ".join(f"-e {event}" for event in EVENTS.split())
    return host.run_script(folder, HOST.replace("EVENTS", events), "--kernel", "6.12", "--late-guest",
                           "--put", life, "--guest-command", GUEST, timeout=200)


class Live:
    """The sums of all tables."""

    def __init__(self, path):
        self.vcpus = collections.defaultdict(collections.Counter)  # by thread
        self.exits = collections.defaultdict(collections.Counter)  # by reason
        self.machine = collections.Counter()
        self.numbers, self.vms, self.thread_ns = {}, set(), collections.Counter()
        self.preempters = collections.defaultdict(set)  # of the periods, by thread
        for line in path.read_text().splitlines():
            (told,) = json.loads(line)["machines"]
            self.machine.update({name: told.get(name, 0) for name in ("virt_ns", "no_room")})
            for row in told.get("vcpus", []):
                self.numbers[row["tid"]] = row["vcpu"]
                self.vms.add((row["pid"], row["vm"]))
                if row.get("preempter"):
                    self.preempters[row["tid"]].add(row["preempter"])
                self.vcpus[row["tid"]].update(
                    {name: value for name, value in row.items() if isinstance(value, int)})
            for row in told.get("exits", []):
                self.exits[row["reason"]].update(
                    {name: value for name, value in row.items() if isinstance(value, int)})
            for row in told["tasks"]:
                if "vcpu" in row:
                    self.thread_ns[row["tid"]] += row.get("virt_ns", 0)


def near(one, other, part, ns, what):
    assert abs(one - other) <= part * max(one, other) + ns, (what, one, other)


def recorded(out, live, threads):
    """The state engine, of the events up to the threads' ends, tells the same."""
    recording = out / "host/host.dat"
    info = machine.info(recording)
    assert info["lost"] == 0 and info["lost_unknown"] == 0, info
    ends = {event["tid"]: event["ts_ns"]
            for event in machine.events(recording, "-e", "sched_process_exit")}
    reasons = collections.defaultdict(collections.Counter)
    for tid in threads:
        told = json.loads(machine.fine("stats", "--exits", "--json", "--end", ends[tid],
                                       recording))
        (vcpu,) = (vcpu for vcpu in told["vcpus"] if vcpu["tid"] == tid)
        row = live.vcpus[tid]
        assert vcpu["vcpu"] == threads[tid], vcpu
        for state in ("guest", "hypervisor", "user-space", "halted", "preempted"):
            near(vcpu["state_ns"][state], row[state.replace("-", "_") + "_ns"], *WATCHING,
                 (tid, state))
        # Live, it is known by its thread's name before it first enters the guest.
        assert row["blocked_ns"] > 0.95 * vcpu["state_ns"]["blocked"] - 50e6, (vcpu, row)
        for name in ("injections", "ipis", "mmio", "pio", "msr", "page_faults"):
            assert vcpu[name] == row[name.replace("page_", "")], (tid, name, vcpu, row)
        for exit in vcpu["exits"]:
            if exit["reason"]:
                reasons[exit["reason"]].update(exit | {"reason": 0})
    for reason, sums in reasons.items():
        assert sums["count"] == live.exits[reason]["exits"], (reason, sums, live.exits[reason])
        near(sums["kernel_ns"], live.exits[reason]["hypervisor_ns"], *WATCHING, reason)
        near(sums["user_ns"], live.exits[reason]["user_space_ns"], *WATCHING, reason)
    return {reason: sums["count"] for reason, sums in reasons.items()}


def preempters(out, live, threads):
    """Those that are named took the virtual CPU's processor while it could run."""
    takers = collections.defaultdict(set)
    for event in machine.events(out / "host/host.dat", "-e", "sched_switch"):
        fields = event["fields"]
        if fields["prev_pid"] in threads and fields["prev_state"] & 0xff == 0:
            takers[fields["prev_pid"]].add(fields["next_comm"])
    for tid in threads:
        assert live.preempters[tid] and live.preempters[tid] <= takers[tid], (live.preempters, takers)
    return dict(live.preempters)


def main():
    with tempfile.TemporaryDirectory(prefix="strata-top-vm-") as name:
        out = boot(pathlib.Path(name))
        live = Live(out / "live.jsonl")
        threads = {int(tid): number
                   for number, tid in enumerate((out / "threads").read_text().split())}
        guest = int((out / "guest").read_text())
        assert live.numbers == threads and len(threads) == 2, (live.numbers, threads)
        assert live.vms == {(guest, "inner")}, live.vms
        assert live.machine["no_room"] == 0, live.machine

        # KVM's own counters.
        counters = dict(line.split() for line in (out / "counters").read_text().splitlines())
        exits = {reason: sums["exits"] for reason, sums in live.exits.items()}
        assert sum(exits.values()) == int(counters["exits"]), (exits, counters)
        assert exits["hlt"] == int(counters["halt_exits"]), (exits, counters)
        assert exits["io"] == int(counters["io_exits"]), (exits, counters)
        print("exits:", exits)

        print("recorded:", recorded(out, live, threads))
        print("preempted by:", preempters(out, live, threads))

        # What others' rows have of it.
        in_guest = sum(row["guest_ns"] for row in live.vcpus.values())
        near(live.machine["virt_ns"], in_guest, 0.001, 1e6, "CPUs")
        near(sum(live.thread_ns.values()), in_guest, 0.001, 1e6, "threads")
        assert min(row["halted_ns"] for row in live.vcpus.values()) > 1e9, live.vcpus

        screen = machine.fine("top", "-b", "--screens", "vm", out / "live.jsonl")
        assert " 1 VMs" in screen and "inner" in screen, screen[:2000]


main()
