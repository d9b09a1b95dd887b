// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What performance counters counted while tasks ran. A counter is a CPU's and only grows: it is
// read when the task changes, and at the kernel's ticks, so that what runs on and on is told.

#include "live/bpf/places.bpf.h"

// Known when the programs are loaded.
const volatile __u32 counter_count;
const volatile __u32 takes_turns;  // a bit for each that may have to

// The counters: those of a CPU side by side.
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

// What a counter tells now, and of those that take turns the time, which is costly to ask for.
// False: it cannot be read, as that of a CPU that has just come.
static inline int read_counter(struct CpuCounters* cpu, __u32 number, __u32 i, struct Counted* now,
                               __u64* passed) {
  __u32 place = number * kCounters + i;
  if ((takes_turns >> i & 1) == 0) {
    __s64 count = bpf_perf_event_read(&counters, place);
    now->count = count;
    now->left_out_ns = 0;
    return count >= 0;  // what is below are errors
  }
  struct bpf_perf_event_value value;
  if (bpf_perf_event_read_value(&counters, place, &value, sizeof value) != 0) return 0;
  now->count = value.counter;
  now->left_out_ns = value.enabled - value.running;
  *passed = value.enabled - cpu->enabled_ns[i];
  cpu->enabled_ns[i] = value.enabled;
  return 1;
}

static inline void add_counted(struct Counted* to, const struct Counted* last,
                               const struct Counted* now) {
  to->count += now->count - last->count;
  to->left_out_ns += now->left_out_ns - last->left_out_ns;
}

// What has been counted since the last reading goes to the CPU, and to the task; null: to none.
static inline void read_counters(struct CpuCounters* cpu, __u32 number, struct Counts* task) {
  __u64 passed = 0;
  for (__u32 i = 0; i < kCounters; ++i) {
    if (i >= counter_count) break;
    struct Counted now;
    struct Counted* last = &cpu->last[i];
    if (!read_counter(cpu, number, i, &now, &passed)) {
      ++cpu->unread;
      continue;
    }
    if (now.count == last->count && now.left_out_ns == last->left_out_ns) continue;
    if (cpu->is_read) {
      add_counted(&cpu->counts.counters[i], last, &now);
      if (task) add_counted(&task->counters[i], last, &now);
    }
    *last = now;
  }
  if (cpu->is_read) {
    cpu->counts.ns += passed;
    if (task) task->ns += passed;
  }
  cpu->is_read = 1;
}

// It has run until now, and this one runs from now on.
static inline void change_turn(struct task_struct* task, __s32 next) {
  __u32 number = bpf_get_smp_processor_id();
  struct CpuCounters* cpu = bpf_map_lookup_elem(&cpu_counters, &number);
  struct CpuSlot* slot = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu || !slot) return;
  // The clock is read where count_run() makes use of it.
  __u64 now = (slot->runs + 1) % kMeasuredOf == 0 ? bpf_ktime_get_ns() : 0;
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
  count_run(slot, now);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(count_at_switch, bool preempted, struct task_struct* prev, struct task_struct* next) {
  change_turn(prev, next->pid);
  return 0;
}

SEC("tp_btf/local_timer_exit")
int count_at_tick(void* context) {
  struct task_struct* task = (struct task_struct*)bpf_get_current_task_btf();
  change_turn(task, task->pid);
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
