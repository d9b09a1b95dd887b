// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// System calls: in which mode tasks and CPUs run, and what tasks wait for.

#include "histogram.bpf.h"
#include "slots.bpf.h"

// Known when the programs are loaded.
const volatile __u32 tells_times;

// How long calls took: those of a CPU side by side.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct Times);
} call_times SEC(".maps");

// The slot of the task that runs; none where the CPU was given to it without a word. Each task has
// its own place for registers, which is quicker to compare than to ask who runs.
static inline struct TaskSlot* current_slot(struct CpuSlot* cpu, struct pt_regs* registers) {
  struct TaskSlot* slot = cpu->task != 0 ? slot_at(cpu->task) : 0;
  if (!slot || slot->registers == (__u64)registers) return slot;
  struct task_struct* task = (struct task_struct*)bpf_get_current_task_btf();
  if (cpu->tid != task->pid) return 0;
  slot->registers = (__u64)registers;
  return slot;
}

static inline void change_mode(struct CpuSlot* cpu, __u32 doing, __u64 now) {
  begin_change(cpu);
  charge_cpu(cpu, now);
  cpu->doing = doing;
  end_change(cpu);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_call, struct pt_regs* registers, long number) {
  __u64 now = bpf_ktime_get_ns();
  struct CpuSlot* cpu = this_cpu();
  if (!cpu) return 0;
  struct TaskSlot* slot = current_slot(cpu, registers);
  if (!slot) return 0;
  struct CallMeaning* meaning = meaning_of(number);
  __u32 argument = meaning ? meaning->descriptor : 0;
  begin_change(slot);
  charge_task(slot, now);
  slot->doing = kRunsInCall;
  slot->call = number;
  slot->descriptor = argument == 0 ? -1 : argument == 1 ? registers->di : registers->si;
  slot->called_at = now;
  end_change(slot);
  change_mode(cpu, kCpuRunsCall, now);
  count_run(cpu, now);
  return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_return, struct pt_regs* registers) {
  __u64 now = bpf_ktime_get_ns();
  __u32 number = bpf_get_smp_processor_id();
  struct CpuSlot* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu) return 0;
  struct TaskSlot* slot = current_slot(cpu, registers);
  if (!slot) return 0;
  __u64 called_at = slot->called_at;
  begin_change(slot);
  charge_task(slot, now);
  slot->doing = kRunsInUser;
  slot->called_at = 0;
  if (called_at != 0) ++slot->syscalls;
  end_change(slot);
  change_mode(cpu, kCpuRunsUser, now);
  if (tells_times && called_at != 0 && slot->call < kCalls) {
    __u32 place = number * kCalls + slot->call;
    struct Times* times = bpf_map_lookup_elem(&call_times, &place);
    if (times) add_time(times, now - called_at);
  }
  count_run(cpu, now);
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
