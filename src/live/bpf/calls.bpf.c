// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// System calls: in which mode tasks and CPUs run, and what tasks wait for.

#include "live/bpf/histogram.bpf.h"
#include "live/bpf/switches.bpf.h"
#include "live/bpf/traffic.bpf.h"

// Known when the programs are loaded.
const volatile __u32 tells_times;
const volatile __u32 tells_traffic;

// How long calls took: those of a CPU side by side.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct Times);
} call_times SEC(".maps");

// The slot of the task that runs. Each task has its own place for registers, which is quicker to
// compare than to ask who runs; the CPU may have been given to it without a word.
static inline struct TaskSlot* current_slot(struct CpuSlot* cpu, __u32 number,
                                            struct pt_regs* registers, __u64 now) {
  struct TaskSlot* slot = cpu->task != 0 ? slot_at(cpu->task) : 0;
  if (slot && slot->registers == (__u64)registers) return slot;
  see_current(cpu, number, (struct task_struct*)bpf_get_current_task_btf(), now);
  slot = cpu->task != 0 ? slot_at(cpu->task) : 0;
  if (slot) slot->registers = (__u64)registers;
  return slot;
}

// The CPU does what its task does.
static inline void change_mode(struct CpuSlot* cpu, struct TaskSlot* slot, __u32 doing,
                               __u32 cpu_doing, __u64 now) {
  __u64 ns = time_between(slot->since, now);
  __u32 did = slot->doing;
  __u32 cpu_did = cpu->doing;
  if (did < kDoings) slot->ns[did] += ns;
  slot->since = now;
  slot->doing = doing;
  __u32 odd = begin_change(&cpu->version);
  if (cpu_did < kCpuDoings) cpu->ns[cpu_did] += ns;
  cpu->since = now;
  cpu->doing = cpu_doing;
  end_change(&cpu->version, odd);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_call, struct pt_regs* registers, long call) {
  __u64 now = bpf_ktime_get_ns();
  __u32 number = bpf_get_smp_processor_id();
  struct CpuSlot* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu) return 0;
  struct TaskSlot* slot = current_slot(cpu, number, registers, now);
  if (!slot) return 0;
  struct CallMeaning* meaning = meaning_of(call);
  __u32 argument = meaning ? meaning->descriptor : 0;
  __u32 odd = begin_change(&slot->version);
  change_mode(cpu, slot, kRunsInCall, kCpuRunsCall, now);
  slot->call = call;
  slot->descriptor = argument == 0 ? -1 : argument == 1 ? registers->di : registers->si;
  slot->called_at = now;
  end_change(&slot->version, odd);
  count_run(cpu, now);
  return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_return, struct pt_regs* registers, long result) {
  __u64 now = bpf_ktime_get_ns();
  __u32 number = bpf_get_smp_processor_id();
  struct CpuSlot* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu) return 0;
  struct TaskSlot* slot = current_slot(cpu, number, registers, now);
  if (!slot) return 0;
  __u64 called_at = slot->called_at;
  __u32 odd = begin_change(&slot->version);
  change_mode(cpu, slot, kRunsInUser, kCpuRunsUser, now);
  slot->called_at = 0;
  if (called_at != 0) ++slot->syscalls;
  end_change(&slot->version, odd);

  if (tells_times && called_at != 0 && slot->call < kCalls) {
    __u32 place = number * kCalls + slot->call;
    struct Times* times = bpf_map_lookup_elem(&call_times, &place);
    if (times) add_time(times, now - called_at);
  }
  struct CallMeaning* meaning = tells_traffic && called_at != 0 ? meaning_of(slot->call) : 0;
  if (meaning && meaning->traffic != kNothing && result >= 0) {
    __s32 other = meaning->other <= 1   ? registers->di
                  : meaning->other == 2 ? registers->si
                                        : registers->dx;
    count_traffic(cpu, slot, meaning->traffic, other, result, now - called_at);
  }
  count_run(cpu, now);
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
