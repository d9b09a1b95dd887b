// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What performance counters counted while tasks ran. A counter is a CPU's and only grows: it is
// read when the task changes, and at the kernel's ticks, so that what runs on and on is told.

#include "live/bpf/places.bpf.h"

// Known when the programs are loaded.
const volatile __u32 counter_count;

// Those of a CPU side by side.
struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u32);
} counters SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct CpuCounters);
} cpu_counters SEC(".maps");

// By the tasks' slots.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct Counts);
} task_counts SEC(".maps");

// What has been counted since the last reading goes to the CPU, and to the task; null: to none.
static inline void read_counters(struct CpuCounters* cpu, __u32 number, struct Counts* task) {
  __u64 passed = 0;
  for (__u32 i = 0; i < kCounters; ++i) {
    if (i >= counter_count) break;
    struct bpf_perf_event_value now;
    if (bpf_perf_event_read_value(&counters, number * counter_count + i, &now, sizeof now) != 0)
      continue;
    struct Counted* last = &cpu->counters[i];
    __u64 left_out = now.enabled - now.running;
    if (i == 0) {
      passed = now.enabled - cpu->enabled_ns;
      cpu->enabled_ns = now.enabled;
    }
    if (cpu->is_read) {
      cpu->counts.counters[i].count += now.counter - last->count;
      cpu->counts.counters[i].left_out_ns += left_out - last->left_out_ns;
      if (task) {
        task->counters[i].count += now.counter - last->count;
        task->counters[i].left_out_ns += left_out - last->left_out_ns;
      }
    }
    last->count = now.counter;
    last->left_out_ns = left_out;
  }
  if (cpu->is_read) {
    cpu->counts.ns += passed;
    if (task) task->ns += passed;
  }
  cpu->is_read = 1;
}

// It has run until now, and this one runs from now on.
static inline void change_turn(struct task_struct* task, __s32 next, __u64 now) {
  __u32 number = bpf_get_smp_processor_id();
  struct CpuCounters* cpu = bpf_map_lookup_elem(&cpu_counters, &number);
  if (!cpu) return;
  // Where the kernel left out a switch, nobody knows whose it is.
  __u32 known = 0;
  if (task->pid != 0 && cpu->turn == task->pid) quick_slot_of(task, &known);
  __u32 index = known - 1;
  struct Counts* counts = known != 0 ? bpf_map_lookup_elem(&task_counts, &index) : 0;
  __u32 odd = begin_change(&cpu->counts.version);
  __u32 task_odd = counts ? begin_change(&counts->version) : 0;
  read_counters(cpu, number, counts);
  if (counts) end_change(&counts->version, task_odd);
  end_change(&cpu->counts.version, odd);
  cpu->turn = next;
  struct CpuSlot* slot = this_cpu();
  if (slot) count_run(slot, now);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(count_at_switch, bool preempted, struct task_struct* prev, struct task_struct* next) {
  change_turn(prev, next->pid, bpf_ktime_get_ns());
  return 0;
}

SEC("tp_btf/local_timer_exit")
int count_at_tick(void* context) {
  struct task_struct* task = (struct task_struct*)bpf_get_current_task_btf();
  change_turn(task, task->pid, bpf_ktime_get_ns());
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
