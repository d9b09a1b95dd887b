// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// How a task gets its slot, and who it is.
#pragma once

#include "live/bpf/places.bpf.h"

// Known when the programs are loaded.
const volatile __u32 slot_count;

enum { kTakeTries = 16 };
// Who a task is, is looked at again after this long.
#define kDescribedFor 50000000ull

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} free_slots SEC(".maps");

// 0: there is none. Others may take one at the same time, each try then is somebody's success.
static __u32 take_slot(struct Control* shared) {
  for (int i = 0; i < kTakeTries; ++i) {
    __u64 taken = *(volatile __u64*)&shared->taken;
    if (taken >= *(volatile __u64*)&shared->freed) return 0;
    __u32 at = taken % (slot_count != 0 ? slot_count : 1);
    __u64* slot = bpf_map_lookup_elem(&free_slots, &at);
    if (!slot) return 0;
    __u32 known = *(volatile __u64*)slot;
    if (__sync_val_compare_and_swap(&shared->taken, taken, taken + 1) == taken) return known + 1;
  }
  return 0;
}

static inline __u64 cpu_cgroup_of(struct task_struct* task) {
  struct cgroup_subsys_state* state = 0;
  if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, cpu_cgrp_id)) return 0;
  bpf_probe_read_kernel(
      &state, sizeof state,
      &task->cgroups->subsys[bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id)]);
  return BPF_CORE_READ(state, cgroup, kn, id);
}

static inline void describe(struct TaskSlot* slot, struct task_struct* task, __u64 now) {
  slot->described_at = now;
  slot->tid = task->pid;
  slot->pid = task->tgid;
  slot->parent = task->real_parent->tgid;
  slot->start = task->start_time;
  slot->is_kernel = (task->flags & kKernelThread) != 0;
  slot->user = task->real_cred->uid.val;
  slot->cgroup = task->cgroups->dfl_cgrp->kn->id;
  slot->cpu_cgroup = cpu_cgroup_of(task);
  struct mm_struct* memory = task->mm;
  slot->memory_pages =
      memory ? memory->rss_stat[0].count + memory->rss_stat[1].count + memory->rss_stat[3].count
             : 0;
  bpf_probe_read_kernel(slot->name, sizeof slot->name, task->comm);
}

// By its ticks the kernel estimates in which mode tasks run, and so CPUs.
static inline void read_ticks(struct TaskSlot* slot, struct task_struct* task,
                              struct CpuSlot* cpu) {
  __u64 user = task->utime;
  __u64 system = task->stime;
  cpu->tick_user_ns += time_between(slot->user_time, user);
  cpu->tick_system_ns += time_between(slot->system_time, system);
  slot->user_time = user;
  slot->system_time = system;
}

static inline void read_counts(struct TaskSlot* slot, struct task_struct* task) {
  slot->run_time = task->se.sum_exec_runtime;
  slot->minor_faults = task->min_flt;
  slot->major_faults = task->maj_flt;
  slot->disk_read_bytes = task->ioac.read_bytes;
  slot->disk_written_bytes = task->ioac.write_bytes;
}

// A slot for a task that has none yet. Two may try it at once: the one that was too late gives up
// what it has taken, and the reader finds it.
static __u32 add_task(struct task_struct* task, __u32 doing, __u64 since, __u64 now,
                      __u32 was_born) {
  struct Control* shared = the_control();
  struct CpuSlot* cpu = this_cpu();
  if (!shared || !cpu) return 0;
  struct Place* place = bpf_task_storage_get(&places, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (place && place->slot != 0) return place->slot;
  __u32 known = place ? take_slot(shared) : 0;
  if (known == 0) {
    if (!place || place->refused_period != shared->period) {
      if (place) place->refused_period = shared->period;
      __sync_fetch_and_add(&cpu->no_room, 1);
    }
    return 0;
  }
  struct TaskSlot* slot = slot_at(known);
  if (!slot) return 0;
  __u32 odd = begin_change(&slot->version);
  slot->doing = doing;
  slot->since = since;
  slot->woken_at = 0;
  // Who was born comes out of its parent's call.
  slot->runs_as = was_born && (task->flags & kKernelThread) == 0 ? kRunsInCall : kRuns;
  slot->cpu = -1;
  slot->call = 0;
  slot->descriptor = -1;
  slot->called_at = 0;
  slot->registers = 0;
  slot->preemptions = slot->sleeps = slot->migrations = slot->wakeups = slot->syscalls = 0;
  for (int i = 0; i < kDoings; ++i) slot->ns[i] = 0;
  slot->irq_ns[0] = slot->irq_ns[1] = slot->softirq_ns[0] = slot->softirq_ns[1] = 0;
  slot->was_born = was_born;
  slot->exit_code = slot->is_gone = 0;
  slot->has_ended = task->exit_state != 0;
  describe(slot, task, now);
  read_counts(slot, task);
  slot->user_time = task->utime;
  slot->system_time = task->stime;
  slot->reads = slot->writes = slot->read_bytes = slot->written_bytes = 0;
  slot->net_read_bytes = slot->net_written_bytes = slot->in_calls_ns = 0;
  end_change(&slot->version, odd);
  __u32 before = __sync_val_compare_and_swap(&place->slot, 0, known);
  if (before == 0) return known;
  slot->tid = 0;
  slot->is_gone = 1;
  return before;
}
