// SPDX-License-Identifier: Apache-2.0
#include "trace/vocabulary.h"

#include <algorithm>
#include <span>
#include <vector>

#include "trace/event_type.h"

namespace strata::trace {
namespace {

// A meaning and its parts. Their order is their slot in Binding::parts.
struct Meaning {
  Word word;
  std::string_view name;
  std::array<Role, 7> parts;
};

using enum Role;
constexpr std::array<Meaning, kWords> kMeanings = {{
    {Word::None, "None", {}},
    {Word::SchedSwitch,
     "SchedSwitch",
     {PrevTid, PrevComm, PrevState, PrevPrio, NextTid, NextComm, NextPrio}},
    {Word::SchedWaking, "SchedWaking", {Tid, Comm, Prio, TargetCpu}},
    {Word::SchedWakeup, "SchedWakeup", {Tid, Comm, Prio, TargetCpu}},
    {Word::SchedWakeupNew, "SchedWakeupNew", {Tid, Comm, Prio, TargetCpu}},
    {Word::SchedMigrate, "SchedMigrate", {Tid, Comm, Prio, FromCpu, TargetCpu}},
    {Word::TaskNew, "TaskNew", {Tid, Comm, CloneFlags}},
    {Word::TaskFork, "TaskFork", {Tid, Comm, Pid, ParentTid, ParentComm}},
    {Word::TaskExec, "TaskExec", {Tid, FileName}},
    {Word::TaskExit, "TaskExit", {Tid, Comm}},
    {Word::TaskFree, "TaskFree", {Tid, Comm}},
    {Word::TaskRename, "TaskRename", {Tid, OldComm, Comm}},
    {Word::SyscallEntry, "SyscallEntry", {Number}},
    {Word::SyscallExit, "SyscallExit", {Number, ReturnValue}},
    {Word::IrqEntry, "IrqEntry", {Irq, IrqName}},
    {Word::IrqExit, "IrqExit", {Irq}},
    {Word::SoftirqRaise, "SoftirqRaise", {Vector}},
    {Word::SoftirqEntry, "SoftirqEntry", {Vector}},
    {Word::SoftirqExit, "SoftirqExit", {Vector}},
    {Word::TrapEntry, "TrapEntry", {Vector}},
    {Word::TrapExit, "TrapExit", {Vector}},
    {Word::FaultInUser, "FaultInUser", {Address}},
    {Word::FaultInKernel, "FaultInKernel", {Address}},
    {Word::VmEntry, "VmEntry", {Vcpu}},
    {Word::VmExit, "VmExit", {Vcpu, Reason, Isa, TrapClass}},
    {Word::VmUserExit, "VmUserExit", {}},
    {Word::VmInjection, "VmInjection", {}},
    {Word::VmIpi, "VmIpi", {}},
    {Word::VmMmio, "VmMmio", {}},
    {Word::VmPio, "VmPio", {}},
    {Word::VmMsr, "VmMsr", {}},
    {Word::VmPageFault, "VmPageFault", {}},
    {Word::VmSyncHost, "VmSyncHost", {VmUid}},
    {Word::VmSyncGuest, "VmSyncGuest", {VmUid}},
    {Word::CpuIdle, "CpuIdle", {State, Cpu}},
    {Word::CpuFrequency, "CpuFrequency", {Frequency, Cpu}},
    {Word::BlockQueue, "BlockQueue", {Device, Sector, SectorCount}},
    {Word::BlockMerge, "BlockMerge", {Device, Sector, SectorCount}},
    {Word::BlockRemap, "BlockRemap", {Device, Sector, SectorCount, OldDevice, OldSector}},
    {Word::BlockInsert, "BlockInsert", {Device, Sector, SectorCount, Flags}},
    {Word::BlockIssue, "BlockIssue", {Device, Sector, SectorCount, Flags}},
    {Word::BlockComplete, "BlockComplete", {Device, Sector, SectorCount}},
    {Word::NetQueue, "NetQueue", {Name, Length}},
    {Word::NetSend, "NetSend", {Name, Length, Status}},
    {Word::NetReceive, "NetReceive", {Name, Length}},
    {Word::PageAlloc, "PageAlloc", {Order}},
    {Word::PageFree, "PageFree", {Order}},
    {Word::MemoryUse, "MemoryUse", {Memory, IsOwn, Kind, Size}},
    {Word::ReclaimBegin, "ReclaimBegin", {Order}},
    {Word::ReclaimEnd, "ReclaimEnd", {Pages}},
    {Word::OomKill, "OomKill", {Tid}},
    {Word::StateTask, "StateTask", {Tid, Pid, ParentPid, Comm, Kind, Status, FileTable}},
    {Word::StateProcess, "StateProcess", {Pid, User, Size}},
    {Word::StateDescriptor, "StateDescriptor", {Pid, FileTable, Descriptor, Flags, FileName}},
    {Word::StateSocket, "StateSocket", {Inode, Protocol, Local, Peer}},
    {Word::StateDisk, "StateDisk", {Device, Name}},
    {Word::StateContainer, "StateContainer", {Pid, FileName, Name}},
    {Word::StateVm, "StateVm", {Pid, Name}},
    {Word::StateVcpu, "StateVcpu", {Pid, Tid, Vcpu}},
}};

constexpr SlotTable make_slots() {
  SlotTable slots{};
  for (auto& row : slots) row.fill(kNoSlot);
  for (size_t word = 0; word < kWords; ++word) {
    const auto& parts = kMeanings[word].parts;
    for (size_t slot = 0; slot < parts.size() && parts[slot] != Role::None; ++slot)
      slots[word][static_cast<size_t>(parts[slot])] = static_cast<uint8_t>(slot);
  }
  return slots;
}

constexpr bool in_order() {
  for (size_t word = 0; word < kWords; ++word)
    if (kMeanings[word].word != static_cast<Word>(word)) return false;
  return true;
}
static_assert(in_order());

// How one tracer names a meaning and its parts. A field may have had several names over the years;
// the first that the type has is taken.
struct Term {
  std::string_view system;
  std::string_view name;
  Word word;
  struct Part {
    Role role;
    std::string_view field;
  };
  std::vector<Part> parts;
};

const std::vector<Term>& ftrace_terms() {
  static const std::vector<Term::Part> kWake = {
      {Tid, "pid"}, {Comm, "comm"}, {Prio, "prio"}, {TargetCpu, "target_cpu"}};
  static const std::vector<Term::Part> kTask = {{Tid, "pid"}, {Comm, "comm"}};
  static const std::vector<Term::Part> kSoftirq = {{Vector, "vec"}};
  static const std::vector<Term::Part> kBlock = {
      {Device, "dev"}, {Sector, "sector"}, {SectorCount, "nr_sector"}, {Flags, "rwbs"}};
  static const std::vector<Term::Part> kRemap = {{Device, "dev"},
                                                 {Sector, "sector"},
                                                 {SectorCount, "nr_sector"},
                                                 {OldDevice, "old_dev"},
                                                 {OldSector, "old_sector"}};
  static const std::vector<Term::Part> kPacket = {{Name, "name"}, {Length, "len"}, {Status, "rc"}};
  static const std::vector<Term::Part> kOrder = {{Order, "order"}};
  static const std::vector<Term::Part> kVmEntry = {{Vcpu, "vcpu_id"}};
  static const std::vector<Term> terms = {
      {"sched",
       "sched_switch",
       Word::SchedSwitch,
       {{PrevTid, "prev_pid"},
        {PrevComm, "prev_comm"},
        {PrevState, "prev_state"},
        {PrevPrio, "prev_prio"},
        {NextTid, "next_pid"},
        {NextComm, "next_comm"},
        {NextPrio, "next_prio"}}},
      {"sched", "sched_waking", Word::SchedWaking, kWake},
      {"sched", "sched_wakeup", Word::SchedWakeup, kWake},
      {"sched", "sched_wakeup_new", Word::SchedWakeupNew, kWake},
      {"sched",
       "sched_migrate_task",
       Word::SchedMigrate,
       {{Tid, "pid"},
        {Comm, "comm"},
        {Prio, "prio"},
        {FromCpu, "orig_cpu"},
        {TargetCpu, "dest_cpu"}}},
      {"task",
       "task_newtask",
       Word::TaskNew,
       {{Tid, "pid"}, {Comm, "comm"}, {CloneFlags, "clone_flags"}}},
      {"task",
       "task_rename",
       Word::TaskRename,
       {{Tid, "pid"}, {OldComm, "oldcomm"}, {Comm, "newcomm"}}},
      {"sched",
       "sched_process_fork",
       Word::TaskFork,
       {{Tid, "child_pid"},
        {Comm, "child_comm"},
        {ParentTid, "parent_pid"},
        {ParentComm, "parent_comm"}}},
      {"sched", "sched_process_exec", Word::TaskExec, {{Tid, "pid"}, {FileName, "filename"}}},
      {"sched", "sched_process_exit", Word::TaskExit, kTask},
      {"sched", "sched_process_free", Word::TaskFree, kTask},
      {"raw_syscalls", "sys_enter", Word::SyscallEntry, {{Number, "id"}}},
      {"raw_syscalls", "sys_exit", Word::SyscallExit, {{Number, "id"}, {ReturnValue, "ret"}}},
      {"irq", "irq_handler_entry", Word::IrqEntry, {{Irq, "irq"}, {IrqName, "name"}}},
      {"irq", "irq_handler_exit", Word::IrqExit, {{Irq, "irq"}}},
      {"irq", "softirq_raise", Word::SoftirqRaise, kSoftirq},
      {"irq", "softirq_entry", Word::SoftirqEntry, kSoftirq},
      {"irq", "softirq_exit", Word::SoftirqExit, kSoftirq},
      {"exceptions", "page_fault_user", Word::FaultInUser, {{Address, "address"}}},
      {"exceptions", "page_fault_kernel", Word::FaultInKernel, {{Address, "address"}}},
      {"kvm", "kvm_entry", Word::VmEntry, kVmEntry},
      {"kvm",
       "kvm_exit",
       Word::VmExit,
       {{Vcpu, "vcpu_id"},
        {Reason, "exit_reason"},
        {Reason, "ret"},  // ARM
        {Isa, "isa"},
        {TrapClass, "esr_ec"}}},
      {"kvm", "kvm_userspace_exit", Word::VmUserExit, {}},
      {"kvm", "kvm_inj_virq", Word::VmInjection, {}},
      {"kvm", "kvm_apic_ipi", Word::VmIpi, {}},
      {"kvm", "kvm_mmio", Word::VmMmio, {}},
      {"kvm", "kvm_pio", Word::VmPio, {}},
      {"kvm", "kvm_msr", Word::VmMsr, {}},
      {"kvm", "kvm_page_fault", Word::VmPageFault, {}},
      {"kvm", "kvm_guest_fault", Word::VmPageFault, {}},  // ARM
      {"power", "cpu_idle", Word::CpuIdle, {{State, "state"}, {Cpu, "cpu_id"}}},
      {"power", "cpu_frequency", Word::CpuFrequency, {{Frequency, "state"}, {Cpu, "cpu_id"}}},
      {"block", "block_bio_queue", Word::BlockQueue, kBlock},
      {"block", "block_bio_backmerge", Word::BlockMerge, kBlock},
      {"block", "block_bio_frontmerge", Word::BlockMerge, kBlock},
      {"block", "block_bio_remap", Word::BlockRemap, kRemap},
      {"block", "block_rq_insert", Word::BlockInsert, kBlock},
      {"block", "block_rq_issue", Word::BlockIssue, kBlock},
      {"block", "block_rq_complete", Word::BlockComplete, kBlock},
      {"net", "net_dev_queue", Word::NetQueue, kPacket},
      {"net", "net_dev_xmit", Word::NetSend, kPacket},
      {"net", "netif_receive_skb", Word::NetReceive, kPacket},
      {"kmem", "mm_page_alloc", Word::PageAlloc, kOrder},
      {"kmem", "mm_page_free", Word::PageFree, kOrder},
      {"kmem",
       "rss_stat",
       Word::MemoryUse,
       {{Memory, "mm_id"}, {IsOwn, "curr"}, {Kind, "member"}, {Size, "size"}}},
      {"vmscan", "mm_vmscan_direct_reclaim_begin", Word::ReclaimBegin, kOrder},
      {"vmscan", "mm_vmscan_direct_reclaim_end", Word::ReclaimEnd, {{Pages, "nr_reclaimed"}}},
      {"oom", "mark_victim", Word::OomKill, {{Tid, "pid"}}},
  };
  return terms;
}

// lttng-modules put the system's name before some events, from version 2.7 on; both are here.
const std::vector<Term>& lttng_terms() {
  static const std::vector<Term::Part> kWake = {
      {Tid, "tid"}, {Comm, "comm"}, {Prio, "prio"}, {TargetCpu, "target_cpu"}};
  static const std::vector<Term::Part> kTask = {{Tid, "tid"}, {Comm, "comm"}};
  static const std::vector<Term::Part> kSoftirq = {{Vector, "vec"}};
  static const std::vector<Term::Part> kAddress = {{Address, "address"}};
  static const std::vector<Term::Part> kTrap = {{Vector, "trap_id"}};
  static const std::vector<Term::Part> kIdle = {{State, "state"}, {Cpu, "cpu_id"}};
  static const std::vector<Term::Part> kFrequency = {{Frequency, "state"}, {Cpu, "cpu_id"}};
  static const std::vector<Term::Part> kBlock = {
      {Device, "dev"}, {Sector, "sector"}, {SectorCount, "nr_sector"}, {Flags, "rwbs"}};
  static const std::vector<Term::Part> kRemap = {{Device, "dev"},
                                                 {Sector, "sector"},
                                                 {SectorCount, "nr_sector"},
                                                 {OldDevice, "old_dev"},
                                                 {OldSector, "old_sector"}};
  static const std::vector<Term::Part> kPacket = {{Name, "name"}, {Length, "len"}, {Status, "rc"}};
  static const std::vector<Term::Part> kOrder = {{Order, "order"}};
  static const std::vector<Term::Part> kVmEntry = {{Vcpu, "vcpu_id"}};
  static const std::vector<Term::Part> kVmExit = {
      {Vcpu, "vcpu_id"}, {Reason, "exit_reason"}, {Isa, "isa"}};
  static const std::vector<Term::Part> kVmSync = {{VmUid, "vm_uid"}};
  static const std::vector<Term> terms = {
      {"",
       "sched_switch",
       Word::SchedSwitch,
       {{PrevTid, "prev_tid"},
        {PrevComm, "prev_comm"},
        {PrevState, "prev_state"},
        {PrevPrio, "prev_prio"},
        {NextTid, "next_tid"},
        {NextComm, "next_comm"},
        {NextPrio, "next_prio"}}},
      {"", "sched_waking", Word::SchedWaking, kWake},
      {"", "sched_wakeup", Word::SchedWakeup, kWake},
      {"", "sched_wakeup_new", Word::SchedWakeupNew, kWake},
      {"",
       "sched_migrate_task",
       Word::SchedMigrate,
       {{Tid, "tid"},
        {Comm, "comm"},
        {Prio, "prio"},
        {FromCpu, "orig_cpu"},
        {TargetCpu, "dest_cpu"}}},
      {"",
       "sched_process_fork",
       Word::TaskFork,
       {{Tid, "child_tid"},
        {Comm, "child_comm"},
        {Pid, "child_pid"},
        {ParentTid, "parent_tid"},
        {ParentComm, "parent_comm"}}},
      {"", "sched_process_exec", Word::TaskExec, {{Tid, "tid"}, {FileName, "filename"}}},
      {"", "sched_process_exit", Word::TaskExit, kTask},
      {"", "sched_process_free", Word::TaskFree, kTask},
      {"", "exit_syscall", Word::SyscallExit, {{ReturnValue, "ret"}}},
      {"", "irq_handler_entry", Word::IrqEntry, {{Irq, "irq"}, {IrqName, "name"}}},
      {"", "irq_handler_exit", Word::IrqExit, {{Irq, "irq"}}},
      {"", "irq_softirq_raise", Word::SoftirqRaise, kSoftirq},
      {"", "irq_softirq_entry", Word::SoftirqEntry, kSoftirq},
      {"", "irq_softirq_exit", Word::SoftirqExit, kSoftirq},
      {"", "softirq_raise", Word::SoftirqRaise, kSoftirq},
      {"", "softirq_entry", Word::SoftirqEntry, kSoftirq},
      {"", "softirq_exit", Word::SoftirqExit, kSoftirq},
      {"", "x86_exceptions_page_fault_user", Word::FaultInUser, kAddress},
      {"", "x86_exceptions_page_fault_kernel", Word::FaultInKernel, kAddress},
      {"", "page_fault_user", Word::FaultInUser, kAddress},
      {"", "page_fault_kernel", Word::FaultInKernel, kAddress},
      {"", "trap_entry", Word::TrapEntry, kTrap},  // before 2.0
      {"", "trap_exit", Word::TrapExit, kTrap},
      {"", "kvm_x86_entry", Word::VmEntry, kVmEntry},
      {"", "kvm_entry", Word::VmEntry, kVmEntry},
      {"", "kvm_x86_exit", Word::VmExit, kVmExit},
      {"", "kvm_exit", Word::VmExit, kVmExit},
      {"", "kvm_userspace_exit", Word::VmUserExit, {}},
      {"", "kvm_x86_inj_virq", Word::VmInjection, {}},
      {"", "kvm_inj_virq", Word::VmInjection, {}},
      {"", "kvm_x86_apic_ipi", Word::VmIpi, {}},
      {"", "kvm_apic_ipi", Word::VmIpi, {}},
      {"", "kvm_mmio", Word::VmMmio, {}},
      {"", "kvm_x86_pio", Word::VmPio, {}},
      {"", "kvm_pio", Word::VmPio, {}},
      {"", "kvm_x86_msr", Word::VmMsr, {}},
      {"", "kvm_msr", Word::VmMsr, {}},
      {"", "kvm_x86_page_fault", Word::VmPageFault, {}},
      {"", "kvm_page_fault", Word::VmPageFault, {}},
      // Modules that exist for tracing hosts and guests together; a guest and its host call in
      // turn.
      {"", "vmsync_gh_host", Word::VmSyncHost, kVmSync},
      {"", "vmsync_hg_host", Word::VmSyncHost, kVmSync},
      {"", "vmsync_gh_guest", Word::VmSyncGuest, kVmSync},
      {"", "vmsync_hg_guest", Word::VmSyncGuest, kVmSync},
      {"", "power_cpu_idle", Word::CpuIdle, kIdle},
      {"", "cpu_idle", Word::CpuIdle, kIdle},
      {"", "power_cpu_frequency", Word::CpuFrequency, kFrequency},
      {"", "cpu_frequency", Word::CpuFrequency, kFrequency},
      {"", "block_bio_queue", Word::BlockQueue, kBlock},
      {"", "block_bio_backmerge", Word::BlockMerge, kBlock},
      {"", "block_bio_frontmerge", Word::BlockMerge, kBlock},
      {"", "block_bio_remap", Word::BlockRemap, kRemap},
      {"", "block_rq_insert", Word::BlockInsert, kBlock},
      {"", "block_rq_issue", Word::BlockIssue, kBlock},
      {"", "block_rq_complete", Word::BlockComplete, kBlock},
      {"", "net_dev_queue", Word::NetQueue, kPacket},
      {"", "net_dev_xmit", Word::NetSend, kPacket},
      {"", "net_if_receive_skb", Word::NetReceive, kPacket},
      {"", "netif_receive_skb", Word::NetReceive, kPacket},
      {"", "kmem_mm_page_alloc", Word::PageAlloc, kOrder},
      {"", "mm_page_alloc", Word::PageAlloc, kOrder},
      {"", "kmem_mm_page_free", Word::PageFree, kOrder},
      {"", "mm_page_free", Word::PageFree, kOrder},
      {"", "mm_vmscan_direct_reclaim_begin", Word::ReclaimBegin, kOrder},
      {"", "mm_vmscan_direct_reclaim_end", Word::ReclaimEnd, {{Pages, "nr_reclaimed"}}},
      {"", "oom_mark_victim", Word::OomKill, {{Tid, "pid"}}},
      {"",
       "lttng_statedump_process_state",
       Word::StateTask,
       {{Tid, "tid"},
        {Pid, "pid"},
        {ParentPid, "ppid"},
        {Comm, "name"},
        {Kind, "type"},
        {Status, "status"},
        {FileTable, "file_table_address"}}},
      {"",
       "strata_statedump_process",
       Word::StateProcess,
       {{Pid, "pid"}, {User, "uid"}, {Size, "rss_kb"}}},
      {"",
       "lttng_statedump_file_descriptor",
       Word::StateDescriptor,
       {{Pid, "pid"},
        {FileTable, "file_table_address"},
        {Descriptor, "fd"},
        {Flags, "flags"},
        {FileName, "filename"}}},
      {"",
       "strata_statedump_socket",
       Word::StateSocket,
       {{Inode, "inode"}, {Protocol, "protocol"}, {Local, "local"}, {Peer, "peer"}}},
      {"", "lttng_statedump_block_device", Word::StateDisk, {{Device, "dev"}, {Name, "diskname"}}},
      {"",
       "strata_statedump_cgroup",
       Word::StateContainer,
       {{Pid, "pid"}, {FileName, "path"}, {Name, "container_name"}}},
      {"", "strata_statedump_vm", Word::StateVm, {{Pid, "pid"}, {Name, "name"}}},
      {"", "strata_statedump_vcpu", Word::StateVcpu, {{Pid, "pid"}, {Tid, "tid"}, {Vcpu, "vcpu"}}},
  };
  return terms;
}

// Event types of one system call each are named by what comes before its name.
struct SyscallPrefix {
  std::string_view system;
  std::string_view prefix;
  Word word;
};
constexpr SyscallPrefix kFtraceSyscalls[] = {
    {"syscalls", "sys_enter_", Word::SyscallEntry},
    {"syscalls", "sys_exit_", Word::SyscallExit},
};
constexpr SyscallPrefix kLttngSyscalls[] = {
    {"", "syscall_entry_", Word::SyscallEntry},
    {"", "syscall_exit_", Word::SyscallExit},
    {"", "compat_syscall_entry_", Word::SyscallEntry},
    {"", "compat_syscall_exit_", Word::SyscallExit},
    {"", "compat_sys_", Word::SyscallEntry},  // before 2.6
    {"", "sys_", Word::SyscallEntry},
};

// So are event types of one interrupt vector each, by what comes after its name: interrupts that
// have no handler of a device's, the timer's above all.
bool bind_vector(const EventType& type, Binding& binding) {
  constexpr std::string_view kEntry = "_entry";
  constexpr std::string_view kExit = "_exit";
  const std::string_view name = type.name;
  if (type.system != "irq_vectors") return false;
  if (name.ends_with(kEntry)) {
    binding.word = Word::IrqEntry;
    binding.interrupt = name.substr(0, name.size() - kEntry.size());
  } else if (name.ends_with(kExit)) {
    binding.word = Word::IrqExit;
    binding.interrupt = name.substr(0, name.size() - kExit.size());
  }
  return binding.word != Word::None;
}

// A context may have the name of a field: the thread that wakes another is "tid", as is the other.
FieldRef field_of(const EventType& type, std::string_view name) {
  for (size_t i = type.common_fields; i < type.fields.size(); ++i)
    if (type.fields[i].name == name) return {type.fields[i], type.order};
  return {};
}

Binding bind_terms(const EventType& type, const std::vector<Term>& terms,
                   std::span<const SyscallPrefix> syscalls) {
  static const std::vector<Term::Part> kSyscall = {
      {Role::Number, "nr"}, {Role::Number, "__syscall_nr"}, {Role::ReturnValue, "ret"}};
  Binding binding;
  std::span<const Term::Part> named;
  const auto syscall = std::ranges::find_if(syscalls, [&](const SyscallPrefix& s) {
    return type.system == s.system && type.name.starts_with(s.prefix);
  });
  if (syscall != syscalls.end()) {
    binding.word = syscall->word;
    binding.syscall = type.name.substr(syscall->prefix.size());
    named = kSyscall;
  } else if (!bind_vector(type, binding)) {
    const auto term = std::ranges::find_if(
        terms, [&](const Term& t) { return t.name == type.name && t.system == type.system; });
    if (term == terms.end()) return binding;
    binding.word = term->word;
    named = term->parts;
  }
  for (const auto& [role, field] : named) {
    const uint8_t slot = kSlots[static_cast<size_t>(binding.word)][static_cast<size_t>(role)];
    if (slot != kNoSlot && !binding.parts[slot]) binding.parts[slot] = field_of(type, field);
  }
  return binding;
}

}  // namespace

constinit const SlotTable kSlots = make_slots();

std::string_view name_of(Word word) { return kMeanings[static_cast<size_t>(word)].name; }

Binding bind(Tracer tracer, const EventType& type) {
  switch (tracer) {
    case Tracer::Ftrace:
      return bind_terms(type, ftrace_terms(), kFtraceSyscalls);
    case Tracer::Lttng:
      return bind_terms(type, lttng_terms(), kLttngSyscalls);
  }
  return {};
}

}  // namespace strata::trace
