// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// A task gets a CPU, whether the kernel tells so or not.
#pragma once

#include "live/bpf/histogram.bpf.h"
#include "live/bpf/places.bpf.h"

// How long tasks waited for each CPU.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct Times);
} queue_times SEC(".maps");

// It runs again. If it waited for something, it could run since it was woken; and if nobody has
// woken it since it began to wait, then somebody had done so in that very moment.
static inline void enter(struct TaskSlot* slot, __u32 cpu, __u64 now) {
  __u32 odd = begin_change(&slot->version);
  if (slot->doing != kWaitsForCpu) {
    __u64 since = slot->since;
    __u64 woken = slot->woken_at;
    charge_task(slot, woken < since ? since : woken > now ? now : woken);
    ++slot->wakeups;
    slot->doing = kWaitsForCpu;
  }
  __u64 waited = time_between(slot->since, now);
  charge_task(slot, now);
  struct Control* shared = the_control();
  if (shared && shared->tells_times) {
    struct Times* times = bpf_map_lookup_elem(&queue_times, &cpu);
    if (times) add_time(times, waited);
  }
  __u32 runs_as = slot->runs_as;
  slot->doing = runs_as == kExits || (shared && shared->tells_calls) ? runs_as : kRuns;
  if (slot->cpu != (__s32)cpu) {
    if (slot->cpu >= 0) ++slot->migrations;
    slot->cpu = cpu;
  }
  end_change(&slot->version, odd);
}

static inline __u32 cpu_doing(struct task_struct* task, struct TaskSlot* slot) {
  if (task->pid == 0) return kCpuIdles;
  if ((task->flags & kKernelThread) != 0) return kCpuRunsKernel;
  if (!slot || slot->doing == kRuns) return kCpuRuns;
  return slot->doing == kRunsInUser ? kCpuRunsUser : kCpuRunsCall;
}

// A task gets the CPU. Its slot, and the number of this, and 1; none of the idle task.
static inline void give_cpu(struct CpuSlot* cpu, struct task_struct* task, struct TaskSlot* slot,
                            __u32 known, __u64 now) {
  __u32 odd = begin_change(&cpu->version);
  charge_cpu(cpu, now);
  cpu->tid = task->pid;
  cpu->task = known;
  cpu->current = (__u64)task;
  cpu->doing = cpu_doing(task, slot);
  end_change(&cpu->version, odd);
}

// Kernels now and then leave out a switch without a word: the CPU runs another task than that which
// it was given to. When it was given away follows from how long the kernel says that either ran.
// What the one did then shows when it runs again: whether somebody has woken it.
static __attribute__((noinline)) void see_missed_switch(struct CpuSlot* cpu, __u32 number,
                                                        struct task_struct* task, __u64 now) {
  struct TaskSlot* old = cpu->task != 0 ? slot_at(cpu->task) : 0;
  __u32 known = task->pid != 0 ? place_of(task) : 0;
  struct TaskSlot* slot = known != 0 ? slot_at(known) : 0;
  __u64 since = cpu->since;
  __u64 at = now;
  struct task_struct* current = (struct task_struct*)cpu->current;
  if (old && BPF_CORE_READ(current, pid) == cpu->tid) {
    __u64 run_time = BPF_CORE_READ(current, se.sum_exec_runtime);
    at = since + (run_time - old->run_time);
    old->run_time = run_time;
  } else if (slot)
    at = now - (task->se.sum_exec_runtime - slot->run_time);
  at = at < since ? since : at > now ? now : at;
  if (old) {
    __u32 odd = begin_change(&old->version);
    charge_task(old, at);
    old->runs_as = old->doing;
    old->doing = kWaitsForOther;
    end_change(&old->version, odd);
  }
  if (slot) enter(slot, number, at);
  give_cpu(cpu, task, slot, known, at);
  ++cpu->missed_switches;
}

static inline void see_current(struct CpuSlot* cpu, __u32 number, struct task_struct* task,
                               __u64 now) {
  if (cpu->tid != task->pid && cpu->switches != 0) see_missed_switch(cpu, number, task, now);
}
