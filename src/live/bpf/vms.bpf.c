// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Virtual machines under KVM: what their virtual CPUs do, and why they leave the guest. KVM may be
// a module without types of its own, so its events are taken by name and by the layout that the
// kernel's tracer gives them.

#include "live/bpf/switches.bpf.h"
#include "live/bpf/vcpus.h"

// How many they are is known when the programs are loaded.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct VcpuSlot);
} vcpus SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct VcpuPlace);
} vcpu_places SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct GuestCpu);
} guest_cpus SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct HaltReasons);
} halt_reasons SEC(".maps");

enum { kMostVcpus = 1 << 16 };

static inline struct VcpuSlot* vcpu_at(__u32 known) {
  __u32 index = known - 1;
  return bpf_map_lookup_elem(&vcpus, &index);
}

static inline void read_times(struct TaskSlot* slot, __u64 now, struct ThreadTimes* times) {
  __u64 ns = time_between(slot->since, now);
  __u32 doing = slot->doing;
  times->ran = slot->ns[kRuns] + (doing == kRuns ? ns : 0);
  times->ran_in_user = slot->ns[kRunsInUser] + (doing == kRunsInUser ? ns : 0);
  times->ran_in_call =
      slot->ns[kRunsInCall] + slot->ns[kExits] + (doing == kRunsInCall || doing == kExits ? ns : 0);
  times->interrupted[0] = slot->irq_ns[0] + slot->softirq_ns[0];
  times->interrupted[1] = slot->irq_ns[1] + slot->softirq_ns[1];
  times->waited = slot->ns[kWaitsForCpu] + (doing == kWaitsForCpu ? ns : 0);
}

struct Search {
  __u32 task;
  __u32 known;  // the slot that was found, and 1; 0: none
};

static long take_if_free(__u32 at, struct Search* search) {
  struct VcpuSlot* vcpu = bpf_map_lookup_elem(&vcpus, &at);
  if (!vcpu) return 1;
  if (vcpu->task != 0 || __sync_val_compare_and_swap(&vcpu->task, 0, search->task) != 0) return 0;
  search->known = at + 1;
  return 1;
}

// The thread that runs is one of a virtual CPU that nobody has told of yet.
static __attribute__((noinline)) __u32 add_vcpu(struct VcpuPlace* place, struct CpuSlot* cpu,
                                                struct TaskSlot* slot, __u64 now) {
  struct Control* shared = the_control();
  if (!shared || place->refused_period == shared->period + 1) return 0;
  struct Search search = {.task = cpu->task};
  bpf_loop(kMostVcpus, take_if_free, &search, 0);
  __u32 known = search.known;
  struct VcpuSlot* vcpu = known != 0 ? vcpu_at(known) : 0;
  if (!vcpu) {
    place->refused_period = shared->period + 1;
    __sync_fetch_and_add(&cpu->no_room, 1);
    return 0;
  }
  __u32 odd = begin_change(&vcpu->version);
  vcpu->tid = slot->tid;
  vcpu->began = vcpu->since = now;
  read_times(slot, now, &vcpu->times);
  vcpu->reason = kNoReason;
  end_change(&vcpu->version, odd);
  // This program may have found it meanwhile.
  if (__sync_val_compare_and_swap(&place->vcpu, 0, known) == 0) return known;
  vcpu->tid = 0;
  vcpu->task = 0;
  return place->vcpu;
}

// A virtual CPU whose thread runs here.
struct Running {
  __u64 now;
  struct CpuSlot* cpu;
  struct TaskSlot* slot;
  struct VcpuSlot* vcpu;
  struct GuestCpu* guest_cpu;
};

// False: there is none. `adds`: the thread is one of a virtual CPU in any case.
static inline int find_running(struct Running* running, int adds) {
  running->now = bpf_ktime_get_ns();
  __u32 number = bpf_get_smp_processor_id();
  struct CpuSlot* cpu = bpf_map_lookup_elem(&cpus, &number);
  struct GuestCpu* guest_cpu = bpf_map_lookup_elem(&guest_cpus, &number);
  if (!cpu || !guest_cpu) return 0;
  struct task_struct* task = (struct task_struct*)bpf_get_current_task_btf();
  see_current(cpu, number, task, running->now);
  __u32 index = cpu->task - 1;
  struct TaskSlot* slot = bpf_map_lookup_elem(&tasks, &index);
  struct VcpuPlace* place = bpf_map_lookup_elem(&vcpu_places, &index);
  if (!slot || !place || slot->tid != task->pid) return 0;
  __u32 known = place->vcpu;
  if (known == 0 && adds) known = add_vcpu(place, cpu, slot, running->now);
  struct VcpuSlot* vcpu = known != 0 ? vcpu_at(known) : 0;
  if (!vcpu || vcpu->tid != slot->tid) return 0;
  running->cpu = cpu;
  running->slot = slot;
  running->vcpu = vcpu;
  running->guest_cpu = guest_cpu;
  return 1;
}

static inline void charge(struct VcpuSlot* vcpu, struct TaskSlot* slot, struct GuestCpu* cpu,
                          __u64 now) {
  struct ThreadTimes times;
  read_times(slot, now, &times);
  cpu->guest_ns += charge_vcpu(vcpu, &times, now);
}

SEC("raw_tp/kvm_entry")
int on_entry(void* context) {
  struct Running running;
  if (!find_running(&running, 1)) return 0;
  __u32 odd = begin_change(&running.vcpu->version);
  charge(running.vcpu, running.slot, running.guest_cpu, running.now);
  running.vcpu->is_in_guest = 1;
  running.vcpu->handler = kTheKernel;
  end_change(&running.vcpu->version, odd);
  count_run(running.cpu, running.now);
  return 0;
}

SEC("tracepoint")
int on_exit(struct ExitRecord* record) {
  struct Running running;
  if (!find_running(&running, 1)) return 0;
  struct VcpuSlot* vcpu = running.vcpu;
  __u32 isa = record->isa;
  __u32 reason = place_of_reason(isa, record->reason);
  barrier_var(reason);  // so that it is compared where the kernel wants to see it
  __u32 zero = 0;
  struct HaltReasons* halts = bpf_map_lookup_elem(&halt_reasons, &zero);
  if (!halts) return 0;
  __u32 odd = begin_change(&vcpu->version);
  charge(running.vcpu, running.slot, running.guest_cpu, running.now);
  vcpu->is_in_guest = 0;
  vcpu->handler = kTheKernel;
  vcpu->number = record->vcpu;
  vcpu->number_is_told = 1;
  vcpu->isa = isa;
  vcpu->reason = reason;
  if (reason < kReasons) {
    ++vcpu->exits[reason].count;
    vcpu->is_halted = isa <= kAmd && halts->is_halt[isa][reason];
  }
  end_change(&vcpu->version, odd);
  count_run(running.cpu, running.now);
  return 0;
}

// Where KVM does not tell entries and exits, this is the first that is told of one.
SEC("raw_tp/kvm_userspace_exit")
int on_user_exit(void* context) {
  struct Running running;
  if (!find_running(&running, 1)) return 0;
  __u32 odd = begin_change(&running.vcpu->version);
  charge(running.vcpu, running.slot, running.guest_cpu, running.now);
  running.vcpu->handler = kTheProgram;
  end_change(&running.vcpu->version, odd);
  count_run(running.cpu, running.now);
  return 0;
}

static inline int count_event(__u32 event) {
  struct Running running;
  if (!find_running(&running, 0)) return 0;
  ++running.vcpu->events[event];
  count_run(running.cpu, running.now);
  return 0;
}

SEC("raw_tp/kvm_inj_virq")
int on_injection(void* context) { return count_event(kInjections); }

SEC("raw_tp/kvm_apic_ipi")
int on_ipi(void* context) { return count_event(kIpis); }

SEC("raw_tp/kvm_mmio")
int on_mmio(void* context) { return count_event(kMmios); }

SEC("raw_tp/kvm_pio")
int on_pio(void* context) { return count_event(kPios); }

SEC("raw_tp/kvm_msr")
int on_msr(void* context) { return count_event(kMsrs); }

SEC("raw_tp/kvm_page_fault")
int on_page_fault(void* context) { return count_event(kPageFaults); }

// Of those who took its CPU before, the one who had it for the shortest time gives place.
static inline __u32 place_of_taker(struct VcpuSlot* vcpu, struct task_struct* task) {
  __u32 place = 0;
  for (__u32 i = 0; i < kTakers; ++i) {
    if (vcpu->takers[i].tid == task->pid) return i + 1;
    if (vcpu->takers[i].ns < vcpu->takers[place].ns) place = i;
  }
  vcpu->takers[place].ns = 0;
  vcpu->takers[place].tid = task->pid;
  bpf_probe_read_kernel(vcpu->takers[place].name, kNameSize, task->comm);
  return place + 1;
}

// Whoever gets the CPU of one that could run took it.
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct* prev, struct task_struct* next,
             unsigned int state) {
  __u32 known = 0;
  struct TaskSlot* slot = prev->pid != 0 ? quick_slot_of(prev, &known) : 0;
  __u32 index = known - 1;
  struct VcpuPlace* place = bpf_map_lookup_elem(&vcpu_places, &index);
  if (!slot || !place || place->vcpu == 0) return 0;
  __u64 now = bpf_ktime_get_ns();
  __u32 number = bpf_get_smp_processor_id();
  struct CpuSlot* cpu = bpf_map_lookup_elem(&cpus, &number);
  struct GuestCpu* guest_cpu = bpf_map_lookup_elem(&guest_cpus, &number);
  struct VcpuSlot* vcpu = vcpu_at(place->vcpu);
  if (!cpu || !guest_cpu || !vcpu || vcpu->tid != prev->pid) return 0;
  __u32 odd = begin_change(&vcpu->version);
  charge(vcpu, slot, guest_cpu, now);
  vcpu->taker = preempted || state == 0 ? place_of_taker(vcpu, next) : 0;
  end_change(&vcpu->version, odd);
  count_run(cpu, now);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_end, struct task_struct* task) {
  struct Running running;
  if (!find_running(&running, 0)) return 0;
  __u32 odd = begin_change(&running.vcpu->version);
  charge(running.vcpu, running.slot, running.guest_cpu, running.now);
  end_change(&running.vcpu->version, odd);
  count_run(running.cpu, running.now);
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
