#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strata record` on a real KVM host: every entry and exit of every vCPU, and what is around them."""

import collections
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "record"))
import host
import machine

VCPUS = {0, 1}

# What the host does. The first recording has the guest's whole life in it, so that nothing of a vCPU
# happened before; the counters of KVM itself are read around and within the last.
HOST = """set -e
kvm=/sys/kernel/debug/kvm
mkdir out
cd out
strata record -o boot --clock x86-tsc --preset qemu -e kvm:kvm_entry -e kvm:kvm_exit \
  -e kvm:kvm_userspace_exit -- start-guest
cat $kvm/*-*/vcpu0/pid $kvm/*-*/vcpu1/pid /run/guest.pid >ids
strata record -o system --clock x86-tsc --duration 1s
strata record -o vm --profile vm --clock x86-tsc --duration 1s
strata record -o kprobe --kprobe 'kvm_arch_vcpu_load cpu=arg2:s32' --duration 1s
cat $kvm/exits >exits
strata record -o counted --json -e kvm:kvm_entry -e kvm:kvm_exit -- \
  sh -c "cat $kvm/exits; sleep 1; cat $kvm/exits" >within
cat $kvm/exits >>exits
cat /sys/kernel/tracing/kprobe_events /sys/kernel/tracing/uprobe_events >probes
ls /sys/kernel/tracing/instances >instances
"""


def entries_and_exits(events):
    """Each vCPU enters, exits, enters; how often it entered."""
    entered, inside = collections.Counter(), {}
    for event in events:
        if event["event"] in ("kvm_entry", "kvm_exit"):
            vcpu = event["fields"]["vcpu_id"]
            entry = event["event"] == "kvm_entry"
            assert inside.get(vcpu, not entry) != entry, event
            inside[vcpu] = entry
            entered[vcpu] += entry
    assert set(entered) == VCPUS and min(entered.values()) > 0, entered
    return entered


def brackets(events):
    """Every entry is between a probe on the way into KVM_RUN and one on the way out.

    The reason that QEMU then sees is the one that the kernel gave.
    """
    running, reason, calls = {}, {}, 0
    for event in events:
        thread, name, fields = event["tid"], event["event"], event["fields"]
        if name == "kvm_run_enter":
            assert not running.get(thread), event
            running[thread] = True
        elif name == "kvm_run_exit":
            assert running[thread] and fields["exit_reason"] == reason[thread], (event, reason)
            running[thread] = False
            calls += 1
        elif name in ("kvm_entry", "kvm_exit", "kvm_userspace_exit"):
            assert running.get(thread), event
            reason[thread] = fields.get("reason")
    assert len(running) == len(VCPUS) and calls > 1000, (running, calls)


def names(events):
    return {event["event"] for event in events}


def profiles(out):
    system, vm = (machine.events(out / name / "host.dat") for name in ("system", "vm"))
    for events in (system, vm):
        entries_and_exits(events)
    assert {"sched_switch", "kvm_inj_virq"} <= names(system), names(system)
    assert {"sched_switch", "kvm_inj_virq", "kvm_msr", "kvm_eoi"} <= names(vm), names(vm)


def kprobes(out, threads):
    """A function of the kernel, with an argument whose value is known."""
    loads = machine.events(out / "kprobe/host.dat")
    assert {event["tid"] for event in loads} == set(threads.values()), loads[:5]
    assert all(event["fields"]["cpu"] == event["cpu"] for event in loads)


def state(out, guest, threads):
    """The recording says which process is the machine, and which of its threads which vCPU."""
    found = machine.events(out / "system/host-state")
    vms = [event["fields"] for event in found if event["event"] == "strata_statedump_vm"]
    assert [(vm["pid"], vm["kvm"], vm["name"], vm["vcpus"]) for vm in vms] \
        == [(guest, 1, "inner", len(VCPUS))], vms
    vcpus = [event["fields"] for event in found if event["event"] == "strata_statedump_vcpu"]
    assert {vcpu["vcpu"]: vcpu["tid"] for vcpu in vcpus} == threads, vcpus
    assert {vcpu["pid"] for vcpu in vcpus} == {guest}, vcpus


def counted(out):
    """As many exits as KVM itself counted; what the recorder tells at its end is what it recorded."""
    first, *told = (out / "within").read_text().split("\n", 2)
    told = told[0], json.loads(told[1])
    before, after = map(int, (out / "exits").read_text().split())
    events = machine.events(out / "counted/host.dat")
    exits = sum(1 for event in events if event["event"] == "kvm_exit")
    assert int(told[0]) - int(first) <= exits <= after - before, (first, told, exits, before, after)
    assert told[1]["events"] == len(events) and told[1]["lost"] == 0, (told, len(events))


with tempfile.TemporaryDirectory(prefix="strata-vm-test-") as name:
    out = host.run_script(pathlib.Path(name), HOST, "--late-guest", timeout=400)
    *vcpu_threads, guest = map(int, (out / "ids").read_text().split())
    threads = dict(enumerate(vcpu_threads))
    whole = machine.events(out / "boot/host.dat")
    print(f"{sum(entries_and_exits(whole).values())} entries while the guest booted")
    brackets(whole)
    profiles(out)
    kprobes(out, threads)
    state(out, guest, threads)
    counted(out)
    for recording in ("boot", "system", "vm", "kprobe", "counted"):
        machine.same_in_trace_cmd(out / recording / "host.dat")
    for left in ("probes", "instances"):
        assert (out / left).read_text() == "", (out / left).read_text()
