// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What tasks and CPUs do: who runs, who waits, who comes and goes, and interrupts.

#include "live/bpf/files.bpf.h"
#include "live/bpf/new_places.bpf.h"
#include "live/bpf/switches.bpf.h"

enum {
  kUninterruptible = 2,  // of a task's state
  kStopped = 4 | 8,
  kStateDead = 128,
  kExitDead = 16,  // of its exit state
  kIsExiting = 4,  // of its flags
};

// What a task waits for that leaves its CPU.
static inline __u32 wait_of(struct TaskSlot* slot, struct task_struct* task, __u32 state) {
  if ((state & kStopped) != 0) return kIsStopped;
  if ((state & kStateDead) != 0) return task->exit_state == kExitDead ? kIsDead : kIsZombie;
  if (slot->doing == kRunsInUser) return kWaitsForFault;
  if (slot->doing == kRunsInCall) {
    struct CallMeaning* meaning = meaning_of(slot->call);
    if (!meaning) return kWaitsForOther;
    __u32 wait = (state & kUninterruptible) != 0 ? meaning->uninterruptible_wait : meaning->wait;
    if (slot->descriptor >= 0) wait = wait_for_file(file_of(task, slot->descriptor), wait);
    if (wait != kWaitsForOther) return wait;
  }
  if (BPF_CORE_READ_BITFIELD(task, in_iowait)) return kWaitsForDisk;
  return kWaitsForOther;
}

static inline void leave(struct TaskSlot* slot, struct task_struct* task, struct CpuSlot* cpu,
                         bool preempted, __u32 state, __u64 now) {
  __u32 odd = begin_change(&slot->version);
  charge_task(slot, now);
  slot->runs_as = slot->doing;
  if (preempted || state == 0) {
    slot->doing = kWaitsForCpu;
    ++slot->preemptions;
  } else {
    slot->doing = wait_of(slot, task, state);
    ++slot->sleeps;
  }
  read_counts(slot, task);
  if (now - slot->described_at > kDescribedFor) {
    describe(slot, task, now);
    read_ticks(slot, task, cpu);  // of a CPU that has none of its own
  }
  end_change(&slot->version, odd);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct* prev, struct task_struct* next,
             unsigned int state) {
  __u64 now = bpf_ktime_get_ns();
  __u32 number = bpf_get_smp_processor_id();
  struct CpuSlot* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu) return 0;
  see_current(cpu, number, prev, now);

  if (prev->pid != 0) {
    __u32 known = cpu->task != 0 ? cpu->task : place_of(prev);
    struct TaskSlot* slot = known != 0 ? slot_at(known) : 0;
    if (slot) leave(slot, prev, cpu, preempted, state, now);
  }

  __u32 known = 0;
  struct TaskSlot* slot = 0;
  if (next->pid != 0) {
    slot = quick_slot_of(next, &known);
    if (!slot) {
      known = add_task(next, kWaitsForCpu, now, now, 0);
      slot = known != 0 ? slot_at(known) : 0;
    }
    if (slot) enter(slot, number, now);
  }
  give_cpu(cpu, next, slot, known, now);
  ++cpu->switches;
  cpu->irqs = cpu->softirqs = 0;  // nobody switches in an interrupt
  count_run(cpu, now);
  return 0;
}

// The idle task may have got its CPU without a word, and nothing else would tell for long.
SEC("tp_btf/cpu_idle")
int BPF_PROG(on_idle, unsigned int level) {
  const unsigned int kNoMore = -1;
  if (level == kNoMore) return 0;
  __u64 now = bpf_ktime_get_ns();
  __u32 number = bpf_get_smp_processor_id();
  struct CpuSlot* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu) return 0;
  see_current(cpu, number, (struct task_struct*)bpf_get_current_task_btf(), now);
  count_run(cpu, now);
  return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct* task) {
  __u64 now = bpf_ktime_get_ns();
  __u32 known = 0;
  struct TaskSlot* slot = quick_slot_of(task, &known);
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
  __u32 odd = begin_change(&slot->version);
  describe(slot, task, now);
  end_change(&slot->version, odd);
  return 0;
}

// Threads of a process may name each other: this is no change of the slot, which has another
// writer.
SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct* task, const char* name) {
  __u32 known = place_of(task);
  struct TaskSlot* slot = known != 0 ? slot_at(known) : 0;
  if (slot) bpf_probe_read_kernel_str(slot->name, sizeof slot->name, name);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct* task) {
  __u64 now = bpf_ktime_get_ns();
  __u32 known = place_of(task);
  struct TaskSlot* slot = known != 0 ? slot_at(known) : 0;
  if (slot) {
    __u32 odd = begin_change(&slot->version);
    charge_task(slot, now);
    slot->doing = kExits;
    slot->called_at = 0;
    slot->exit_code = task->exit_code;
    slot->has_ended = 1;
    end_change(&slot->version, odd);
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
  __u32 odd = begin_change(&slot->version);
  charge_task(slot, bpf_ktime_get_ns());
  slot->doing = kIsDead;
  slot->has_ended = 1;
  slot->is_gone = 1;
  end_change(&slot->version, odd);
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
  __u32 number = bpf_get_smp_processor_id();
  struct CpuSlot* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu) return 0;
  struct task_struct* task = (struct task_struct*)bpf_get_current_task_btf();
  see_current(cpu, number, task, bpf_ktime_get_ns());
  struct TaskSlot* slot = cpu->task != 0 ? slot_at(cpu->task) : 0;
  if (!slot || slot->tid != task->pid) return 0;
  read_counts(slot, task);
  read_ticks(slot, task, cpu);
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
  cpu->current = (__u64)task;
  cpu->doing = cpu_doing(task, 0);
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
