// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What tasks and CPUs do: who runs, who waits, who comes and goes, and interrupts.

#include "slots.bpf.h"

// Known when the programs are loaded.
const volatile __u32 slot_count;

enum {
  kStopped = 4 | 8,  // of a task's state
  kExitZombie = 32,  // of its exit state
  kExitDead = 16,
  kStateDead = 128,
  kKernelThread = 0x00200000,  // of its flags
  kIsExiting = 4,
  kTakeTries = 16,
};
// Who a task is, is looked at again after this long.
#define kDescribedFor 50000000ull

// Which slot is a task's.
struct Place {
  __u32 slot;            // and 1; 0: none
  __u32 refused_period;  // in which it was last counted that there was no room
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct Place);
} places SEC(".maps");

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
static inline void read_counts(struct TaskSlot* slot, struct task_struct* task,
                               struct CpuSlot* cpu) {
  __u64 user = task->utime;
  __u64 system = task->stime;
  cpu->tick_user_ns += time_between(slot->user_time, user);
  cpu->tick_system_ns += time_between(slot->system_time, system);
  slot->user_time = user;
  slot->system_time = system;
  slot->minor_faults = task->min_flt;
  slot->major_faults = task->maj_flt;
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
  begin_change(slot);
  slot->doing = doing;
  slot->since = since;
  slot->woken_at = 0;
  slot->runs_as = kRuns;
  slot->cpu = -1;
  slot->call = 0;
  slot->preemptions = slot->sleeps = slot->migrations = slot->wakeups = slot->syscalls = 0;
  for (int i = 0; i < kDoings; ++i) slot->ns[i] = 0;
  slot->irq_ns[0] = slot->irq_ns[1] = slot->softirq_ns[0] = slot->softirq_ns[1] = 0;
  slot->was_born = was_born;
  slot->exit_code = slot->is_gone = 0;
  slot->has_ended = task->exit_state != 0;
  describe(slot, task, now);
  slot->user_time = task->utime;
  slot->system_time = task->stime;
  slot->minor_faults = task->min_flt;
  slot->major_faults = task->maj_flt;
  end_change(slot);
  __u32 before = __sync_val_compare_and_swap(&place->slot, 0, known);
  if (before == 0) return known;
  slot->tid = 0;
  slot->is_gone = 1;
  return before;
}

static inline __u32 place_of(struct task_struct* task) {
  struct Place* place = bpf_task_storage_get(&places, task, 0, 0);
  return place ? place->slot : 0;
}

// What a task waits for that leaves its CPU.
static inline __u32 wait_of(struct TaskSlot* slot, struct task_struct* task, __u32 state) {
  if ((state & kStopped) != 0) return kIsStopped;
  if ((state & kStateDead) != 0) return task->exit_state == kExitDead ? kIsDead : kIsZombie;
  if (BPF_CORE_READ_BITFIELD(task, in_iowait)) return kWaitsForDisk;
  return kWaitsForOther;
}

static inline void leave(struct TaskSlot* slot, struct task_struct* task, struct CpuSlot* cpu,
                         bool preempted, __u32 state, __u64 now) {
  begin_change(slot);
  charge_task(slot, now);
  slot->runs_as = slot->doing;
  if (preempted || state == 0) {
    slot->doing = kWaitsForCpu;
    ++slot->preemptions;
  } else {
    slot->doing = wait_of(slot, task, state);
    ++slot->sleeps;
  }
  read_counts(slot, task, cpu);
  if (now - slot->described_at > kDescribedFor) describe(slot, task, now);
  end_change(slot);
}

// It runs again. If it waited for something, it could run since it was woken; and if nobody has
// woken it since it began to wait, then somebody had done so in that very moment.
static inline void enter(struct TaskSlot* slot, __u32 cpu, __u64 now) {
  begin_change(slot);
  if (slot->doing != kWaitsForCpu) {
    __u64 since = slot->since;
    __u64 woken = slot->woken_at;
    charge_task(slot, woken < since ? since : woken > now ? now : woken);
    ++slot->wakeups;
    slot->doing = kWaitsForCpu;
  }
  charge_task(slot, now);
  slot->doing = slot->runs_as;
  if (slot->cpu != (__s32)cpu) {
    if (slot->cpu >= 0) ++slot->migrations;
    slot->cpu = cpu;
  }
  end_change(slot);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct* prev, struct task_struct* next,
             unsigned int state) {
  __u64 now = bpf_ktime_get_ns();
  __u32 number = bpf_get_smp_processor_id();
  struct CpuSlot* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu) return 0;

  __s32 tid = prev->pid;
  if (tid != 0) {
    __u32 known = cpu->tid == tid && cpu->task != 0 ? cpu->task : place_of(prev);
    struct TaskSlot* slot = known != 0 ? slot_at(known) : 0;
    if (slot) leave(slot, prev, cpu, preempted, state, now);
  }

  tid = next->pid;
  __u32 known = 0;
  if (tid != 0) {
    known = place_of(next);
    if (known == 0) known = add_task(next, kWaitsForCpu, now, now, 0);
    struct TaskSlot* slot = known != 0 ? slot_at(known) : 0;
    if (slot) enter(slot, number, now);
  }

  begin_change(cpu);
  charge_cpu(cpu, now);
  cpu->tid = tid;
  cpu->task = known;
  cpu->doing = tid == 0 ? kCpuIdles : (next->flags & kKernelThread) ? kCpuRunsKernel : kCpuRuns;
  ++cpu->switches;
  cpu->irqs = cpu->softirqs = 0;  // nobody switches in an interrupt
  end_change(cpu);
  count_run(cpu, now);
  return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct* task) {
  __u64 now = bpf_ktime_get_ns();
  __u32 known = place_of(task);
  struct TaskSlot* slot = known != 0 ? slot_at(known) : 0;
  if (slot) slot->woken_at = now;
  struct CpuSlot* cpu = this_cpu();
  if (cpu) count_run(cpu, now);
  return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_new, struct task_struct* task) {
  __u64 now = bpf_ktime_get_ns();
  __u32 known = add_task(task, kIsNew, task->start_time, now, 1);
  struct TaskSlot* slot = known != 0 ? slot_at(known) : 0;
  if (slot) slot->woken_at = now;
  struct CpuSlot* cpu = this_cpu();
  if (!cpu) return 0;
  __sync_fetch_and_add(&cpu->born, 1);
  if (task->pid == task->tgid) __sync_fetch_and_add(&cpu->born_processes, 1);
  count_run(cpu, now);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task) {
  __u64 now = bpf_ktime_get_ns();
  __u32 known = place_of(task);
  struct TaskSlot* slot = known != 0 ? slot_at(known) : 0;
  if (!slot) return 0;
  begin_change(slot);
  describe(slot, task, now);
  end_change(slot);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct* task) {
  __u64 now = bpf_ktime_get_ns();
  __u32 known = place_of(task);
  struct TaskSlot* slot = known != 0 ? slot_at(known) : 0;
  if (slot) {
    begin_change(slot);
    charge_task(slot, now);
    slot->doing = kExits;
    slot->exit_code = task->exit_code;
    slot->has_ended = 1;
    end_change(slot);
  }
  struct CpuSlot* cpu = this_cpu();
  if (!cpu) return 0;
  __sync_fetch_and_add(&cpu->ended, 1);
  if (task->pid == task->tgid) __sync_fetch_and_add(&cpu->ended_processes, 1);
  count_run(cpu, now);
  return 0;
}

// Nobody can ask any more how it ended.
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct* task) {
  __u32 known = place_of(task);
  struct TaskSlot* slot = known != 0 ? slot_at(known) : 0;
  if (!slot) return 0;
  begin_change(slot);
  charge_task(slot, bpf_ktime_get_ns());
  slot->doing = kIsDead;
  slot->has_ended = 1;
  slot->is_gone = 1;
  end_change(slot);
  return 0;
}

// What interrupts took since the last of them came or went. Their time is that of the innermost.
static inline void charge_interrupt(struct CpuSlot* cpu, __u64 now) {
  __u64 ns = time_between(cpu->interrupted_since, now);
  cpu->interrupted_since = now;
  if (cpu->irqs == 0 && cpu->softirqs == 0) return;
  __u32 doing = cpu->doing;
  if (doing < kCpuDoings) cpu->interrupted_ns[doing] += ns;
  if (cpu->irqs != 0)
    cpu->irq_ns += ns;
  else
    cpu->softirq_ns += ns;
  struct TaskSlot* slot = cpu->task != 0 ? slot_at(cpu->task) : 0;
  if (!slot) return;
  __u32 in_call = slot->doing == kRunsInCall;
  if (cpu->irqs != 0)
    slot->irq_ns[in_call & 1] += ns;
  else
    slot->softirq_ns[in_call & 1] += ns;
}

static inline int change_irqs(int by) {
  __u64 now = bpf_ktime_get_ns();
  struct CpuSlot* cpu = this_cpu();
  if (!cpu) return 0;
  charge_interrupt(cpu, now);
  if (by > 0 || cpu->irqs > 0) cpu->irqs += by;
  count_run(cpu, now);
  return 0;
}

static inline int change_softirqs(int by) {
  __u64 now = bpf_ktime_get_ns();
  struct CpuSlot* cpu = this_cpu();
  if (!cpu) return 0;
  charge_interrupt(cpu, now);
  if (by > 0 || cpu->softirqs > 0) cpu->softirqs += by;
  count_run(cpu, now);
  return 0;
}

SEC("tp_btf/irq_handler_entry")
int on_irq_entry(void* context) { return change_irqs(1); }

SEC("tp_btf/irq_handler_exit")
int on_irq_exit(void* context) { return change_irqs(-1); }

SEC("tp_btf/local_timer_entry")
int on_timer_entry(void* context) { return change_irqs(1); }

SEC("tp_btf/local_timer_exit")
int on_timer_exit(void* context) {
  change_irqs(-1);
  struct CpuSlot* cpu = this_cpu();
  struct TaskSlot* slot = cpu && cpu->task != 0 ? slot_at(cpu->task) : 0;
  struct task_struct* task = (struct task_struct*)bpf_get_current_task_btf();
  if (slot && slot->tid == task->pid) read_counts(slot, task, cpu);
  return 0;
}

SEC("tp_btf/softirq_entry")
int on_softirq_entry(void* context) { return change_softirqs(1); }

SEC("tp_btf/softirq_exit")
int on_softirq_exit(void* context) { return change_softirqs(-1); }

// All tasks that are there already: they do what they do since now.
SEC("iter/task")
int find_tasks(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task || task->pid == 0) return 0;
  __u64 now = bpf_ktime_get_ns();
  __u32 state = task->__state;
  __u32 doing = kWaitsForOther;
  if (task->exit_state != 0)
    doing = kIsZombie;
  else if (task->on_cpu)
    doing = kRuns;
  else if (state == 0)
    doing = kWaitsForCpu;
  else if ((state & kStopped) != 0)
    doing = kIsStopped;
  else if (BPF_CORE_READ_BITFIELD(task, in_iowait))
    doing = kWaitsForDisk;
  __u32 known = add_task(task, doing, now, now, 0);
  struct Control* shared = the_control();
  if (shared && (task->flags & kIsExiting) == 0) {
    ++shared->threads;
    if (task->pid == task->tgid) ++shared->processes;
  }
  // A CPU that has told of no switch yet was taken for one that idles.
  __u32 number = task->thread_info.cpu;
  struct CpuSlot* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (doing != kRuns || !cpu || cpu->switches != 0) return 0;
  cpu->tid = task->pid;
  cpu->task = known;
  cpu->doing = (task->flags & kKernelThread) != 0 ? kCpuRunsKernel : kCpuRuns;
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
