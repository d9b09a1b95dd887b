// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The slots of CPUs and tasks: finding them, and changing them so that who reads them sees either
// what was or what is.
#pragma once

#include "live/bpf/kernel.bpf.h"
#include "live/bpf/layout.h"

// How many they are is known when the programs are loaded.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct TaskSlot);
} tasks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct CpuSlot);
} cpus SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct Control);
} control SEC(".maps");

// By the numbers of system calls.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, kCalls);
  __type(key, __u32);
  __type(value, struct CallMeaning);
} meanings SEC(".maps");

#define barrier() asm volatile("" ::: "memory")

static inline struct CpuSlot* this_cpu(void) {
  __u32 number = bpf_get_smp_processor_id();
  return bpf_map_lookup_elem(&cpus, &number);
}

static inline struct CallMeaning* meaning_of(__u32 call) {
  return bpf_map_lookup_elem(&meanings, &call);
}

static inline struct Control* the_control(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&control, &zero);
}

// By the number that others know it by, which is one more.
static inline struct TaskSlot* slot_at(__u32 known) {
  __u32 index = known - 1;
  return bpf_map_lookup_elem(&tasks, &index);
}

// Of x86, which keeps stores in order, this is all that it takes. What the one returns is given to
// the other.
static inline __u32 begin_change(__u32* version) {
  __u32 odd = *version + 1;
  *(volatile __u32*)version = odd;
  barrier();
  return odd;
}

static inline void end_change(__u32* version, __u32 odd) {
  barrier();
  *(volatile __u32*)version = odd + 1;
}

static inline __u64 time_between(__u64 begin, __u64 end) { return end > begin ? end - begin : 0; }

static inline void charge_task(struct TaskSlot* slot, __u64 now) {
  __u32 doing = slot->doing;
  if (doing < kDoings) slot->ns[doing] += time_between(slot->since, now);
  slot->since = now;
}

static inline void charge_cpu(struct CpuSlot* cpu, __u64 now) {
  __u32 doing = cpu->doing;
  if (doing < kCpuDoings) cpu->ns[doing] += time_between(cpu->since, now);
  cpu->since = now;
}

// To be called at the end of each program: `begin` is when it began.
static inline void count_run(struct CpuSlot* cpu, __u64 begin) {
  if (++cpu->runs % kMeasuredOf == 0) cpu->measured_ns += bpf_ktime_get_ns() - begin;
}
