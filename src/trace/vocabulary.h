// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/field.h"

namespace strata::trace {

struct EventType;

// What an event means, whichever tracer wrote it. Analyses know these words and no tracer's names.
enum class Word : uint8_t {
  None,
  SchedSwitch,     // PrevTid PrevComm PrevState PrevPrio NextTid NextComm NextPrio
  SchedWaking,     // Tid Comm Prio TargetCpu
  SchedWakeup,     // the same
  SchedWakeupNew,  // the same
  SchedMigrate,    // Tid Comm Prio FromCpu TargetCpu
  TaskNew,         // Tid Comm CloneFlags
  TaskFork,        // Tid Comm Pid ParentTid ParentComm
  TaskExec,        // Tid FileName
  TaskExit,        // Tid Comm
  TaskFree,        // Tid Comm
  TaskRename,      // Tid OldComm Comm
  SyscallEntry,    // Number (or the type's own syscall name)
  SyscallExit,     // Number ReturnValue
  IrqEntry,        // Irq IrqName (or the type's own interrupt name)
  IrqExit,         // Irq
  SoftirqRaise,    // Vector
  SoftirqEntry,    // Vector
  SoftirqExit,     // Vector
  TrapEntry,       // Vector
  TrapExit,        // Vector
  FaultInUser,     // Address: a page was missing; when that ends nobody tells
  FaultInKernel,   // the same, while the kernel ran
  VmEntry,         // Vcpu
  VmExit,          // Vcpu Reason Isa TrapClass
  VmUserExit,      // the program that emulates the machine goes on with the exit
  VmInjection,     // the guest gets an interrupt; from here on events that are counted
  VmIpi,           // its processors interrupt each other
  VmMmio,          // it reaches a device through memory
  VmPio,           // and through a port
  VmMsr,           // and a register that the hypervisor keeps
  VmPageFault,     // its memory has to be found
  VmSyncHost,      // VmUid; the machine that the thread runs the guest of
  VmSyncGuest,     // VmUid; this machine
  CpuIdle,         // State Cpu
  CpuFrequency,    // Frequency Cpu
  BlockQueue,      // Device Sector SectorCount: somebody wishes to read or write there
  BlockMerge,      // the same; it becomes a part of a request that is there already
  BlockRemap,      // Device Sector SectorCount OldDevice OldSector: it is passed on to another
  BlockInsert,     // Device Sector SectorCount Flags: it is a request, which waits for the device
  BlockIssue,      // the same: the device has it
  BlockComplete,   // Device Sector SectorCount
  NetQueue,        // Name Length: a packet is to be sent by an interface
  NetSend,         // Name Length Status: the interface has it
  NetReceive,      // Name Length
  PageAlloc,       // Order
  PageFree,        // Order
  MemoryUse,       // Memory IsOwn Kind Size: how much of a kind a process uses now
  ReclaimBegin,    // Order: a task has to free memory before it gets some
  ReclaimEnd,      // Pages
  OomKill,         // Tid
  // What was there when tracing began.
  StateTask,        // Tid Pid ParentPid Comm Kind Status FileTable
  StateProcess,     // Pid User Size
  StateDescriptor,  // Pid FileTable Descriptor Flags FileName
  StateSocket,      // Inode Protocol Local Peer
  StateDisk,        // Device Name
  StateContainer,   // Pid FileName Name
  StateVm,          // Pid Name
  StateVcpu,        // Pid Tid Vcpu
  Count_,
};

std::string_view name_of(Word word);

// The parts that fields play in those meanings.
enum class Role : uint8_t {
  None,
  Tid,
  Comm,
  Prio,
  TargetCpu,
  FromCpu,
  PrevTid,
  PrevComm,
  PrevPrio,
  PrevState,
  NextTid,
  NextComm,
  NextPrio,
  ParentTid,
  ParentComm,
  OldComm,
  CloneFlags,
  FileName,
  Number,
  ReturnValue,
  Irq,
  IrqName,
  Vector,
  Address,
  Vcpu,
  Reason,
  Isa,
  TrapClass,
  VmUid,
  State,
  Cpu,
  Frequency,
  Device,
  Sector,
  SectorCount,
  Pid,
  ParentPid,
  Kind,
  Status,
  User,
  Name,
  OldDevice,
  OldSector,
  Length,
  Order,
  Pages,
  Memory,
  IsOwn,
  Size,
  FileTable,
  Descriptor,
  Flags,
  Inode,
  Protocol,
  Local,
  Peer,
  Count_,
};

constexpr auto kWords = static_cast<size_t>(Word::Count_);
constexpr auto kRoles = static_cast<size_t>(Role::Count_);
constexpr uint8_t kNoSlot = 0xff;
using SlotTable = std::array<std::array<uint8_t, kRoles>, kWords>;
// Where in Binding::parts a role of a word is.
extern const SlotTable kSlots;

// A meaning bound to one event type: which word, and where each of its parts is in a record. Bound
// once, when a trace opens; reading a part is then an offset and a load.
struct Binding {
  Word word = Word::None;
  std::string syscall;    // of SyscallEntry and SyscallExit whose type is of one call: "read"
  std::string interrupt;  // of IrqEntry and IrqExit whose type is of one vector: "local_timer"
  std::array<FieldRef, 8> parts{};

  // The field that plays `role`; reads nothing where the tracer does not tell it.
  FieldRef part(Role role) const {
    const uint8_t slot = kSlots[static_cast<size_t>(word)][static_cast<size_t>(role)];
    return slot == kNoSlot ? FieldRef{} : parts[slot];
  }
};

// The family of names that a trace uses.
enum class Tracer : uint8_t {
  Ftrace,  // and perf, whose names are the same
  Lttng,   // lttng-modules, all versions
};

// Finds what `type` means by its names.
Binding bind(Tracer tracer, const EventType& type);

}  // namespace strata::trace
