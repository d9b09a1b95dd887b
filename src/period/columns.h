// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::period {

// What a row is about.
enum class RowKind : uint8_t {
  Machine,
  Cpu,
  Task,
  Vm,
  Vcpu,
  Exit,  // one reason for which the CPUs of a virtual machine left the guest
  File,
  Descriptor,  // of a process
  Device,      // a block device
  Interface,
  Latency,  // something that takes time again and again: a system call, an interrupt line
  Count_,
};
constexpr auto kRowKinds = static_cast<size_t>(RowKind::Count_);
std::string_view name_of(RowKind kind);  // "task", as its rows are called in JSON

// What is told of rows. Everything that shows a table takes names and meanings from kColumns.
enum class Column : uint8_t {
  // Time, cut at the period's edges. First what tasks do, of which each does one at a time.
  Running,
  User,
  Syscall,
  Trap,
  Virt,
  Kernel,
  Exiting,
  Irq,
  Softirq,
  WaitCpu,
  WaitDisk,
  WaitNet,
  WaitFutex,
  WaitPipe,
  WaitTimer,
  WaitPoll,
  WaitChild,
  WaitFault,
  WaitOther,
  New,
  Stopped,
  Zombie,
  Unknown,
  Idle,
  UnknownTask,
  // What virtual CPUs do.
  Guest,
  Hypervisor,
  UserSpace,
  Halted,
  Preempted,
  Blocked,
  // Block devices.
  Busy,
  Depth,
  // Calls, and watching.
  InCalls,
  Observer,
  Observing,
  // Numbers.
  Events,
  LostEvents,
  Losses,
  MissedSwitches,
  Switches,
  Preemptions,
  Sleeps,
  Migrations,
  Wakeups,
  Faults,
  MajorFaults,
  Syscalls,
  Born,
  Ended,
  Exits,
  Injections,
  Ipis,
  Mmio,
  Pio,
  Msr,
  Opens,
  Reads,
  Writes,
  Requests,
  InFlight,
  PacketsIn,
  PacketsOut,
  PacketsRefused,
  Processes,
  Threads,
  OpenFiles,
  Connections,
  NoRoom,
  // Bytes.
  ReadBytes,
  WrittenBytes,
  NetReadBytes,
  NetWrittenBytes,
  DiskReadBytes,
  DiskWrittenBytes,
  Memory,
  // Other units.
  Frequency,
  // What performance counters counted.
  Cycles,
  Instructions,
  CacheReferences,
  CacheMisses,
  Branches,
  BranchMisses,
  BusCycles,
  StalledFrontend,
  StalledBackend,
  RefCycles,
  CpuClock,
  TaskClock,
  PageFaults,
  MinorPageFaults,
  MajorPageFaults,
  ContextSwitches,
  CpuMigrations,
  AlignmentFaults,
  EmulationFaults,
  CgroupSwitches,
  Count_,
};
constexpr auto kColumnCount = static_cast<size_t>(Column::Count_);

enum class Unit : uint8_t { Nanoseconds, Number, Bytes, Kilohertz };
std::string_view name_of(Unit unit);

// What a column of several periods together is.
enum class Combining : uint8_t {
  Sum,
  Last,  // it is told for the end of a period
};

// Which rows have a column: a bit for each RowKind.
using RowKinds = uint16_t;
constexpr RowKinds only(RowKind kind) {
  return static_cast<RowKinds>(1u << static_cast<unsigned>(kind));
}

struct ColumnInfo {
  Column id{};
  std::string_view name;     // in JSON, and wherever a program asks for it
  std::string_view heading;  // for people
  Unit unit{};
  Combining combining{};
  RowKinds rows = 0;
  std::string_view meaning;
  std::string_view counter = {};  // perf's name of the counter that it is of; empty: of none
};

namespace columns_detail {
constexpr RowKinds M = only(RowKind::Machine), C = only(RowKind::Cpu), T = only(RowKind::Task),
                   V = only(RowKind::Vm) | only(RowKind::Vcpu), X = only(RowKind::Exit),
                   F = only(RowKind::File), P = only(RowKind::Descriptor),
                   D = only(RowKind::Device), I = only(RowKind::Interface);
constexpr auto ns = Unit::Nanoseconds;
constexpr auto number = Unit::Number;
constexpr auto bytes = Unit::Bytes;
constexpr auto sum = Combining::Sum;
constexpr auto last = Combining::Last;
}  // namespace columns_detail

// All columns, in the order of Column.
inline constexpr std::array<ColumnInfo, kColumnCount> kColumns = [] {
  using namespace columns_detail;
  using enum Column;
  return std::array<ColumnInfo, kColumnCount>{{
      {Running, "running_ns", "running", ns, sum, T, "on a CPU, in which mode is not told"},
      {User, "user_ns", "user", ns, sum, M | C | T, "in a program's own code"},
      {Syscall, "syscall_ns", "system", ns, sum, M | C | T, "in system calls"},
      {Trap, "trap_ns", "trap", ns, sum, M | C | T, "in exceptions, page faults among them"},
      {Virt, "virt_ns", "guest", ns, sum, M | C | T, "in a guest's code"},
      {Kernel, "kernel_ns", "kernel", ns, sum, M | C | T, "in a thread of the kernel's own"},
      {Exiting, "exiting_ns", "exiting", ns, sum, T, "in the kernel, at the end of its life"},
      {Irq, "irq_ns", "irq", ns, sum, M | C | T,
       "in interrupts; of a task: it would have run, but its CPU handled them"},
      {Softirq, "softirq_ns", "softirq", ns, sum, M | C | T,
       "in softirqs; of a task: it would have run, but its CPU handled them"},
      {WaitCpu, "wait_cpu_ns", "wait CPU", ns, sum, T, "could run, but its CPU ran another"},
      {WaitDisk, "wait_disk_ns", "disk", ns, sum, T, "waited for a disk"},
      {WaitNet, "wait_net_ns", "network", ns, sum, T, "waited for the network"},
      {WaitFutex, "wait_futex_ns", "lock", ns, sum, T, "waited for a lock (futex)"},
      {WaitPipe, "wait_pipe_ns", "pipe", ns, sum, T, "waited for another process"},
      {WaitTimer, "wait_timer_ns", "timer", ns, sum, T, "waited for a time"},
      {WaitPoll, "wait_poll_ns", "poll", ns, sum, T, "waited for any of several descriptors"},
      {WaitChild, "wait_child_ns", "child", ns, sum, T, "waited for a child to end"},
      {WaitFault, "wait_fault_ns", "page", ns, sum, T, "waited for a page of memory"},
      {WaitOther, "wait_other_ns", "other", ns, sum, T, "waited, for what is not told (yet)"},
      {New, "new_ns", "new", ns, sum, T, "made, but had never run"},
      {Stopped, "stopped_ns", "stopped", ns, sum, T, "stopped by a signal or a debugger"},
      {Zombie, "zombie_ns", "zombie", ns, sum, T, "ended, and nobody had asked how"},
      {Unknown, "unknown_ns", "unknown", ns, sum, M | C | T | V,
       "nobody told, or events were lost"},
      {Idle, "idle_ns", "idle", ns, sum, M | C, "had nothing to run"},
      {UnknownTask, "unknown_task_ns", "whose", ns, sum, M | C,
       "of the unknown time that of which not even the task is known"},
      {Guest, "guest_ns", "guest", ns, sum, V, "ran the guest's code"},
      {Hypervisor, "hypervisor_ns", "hypervisor", ns, sum, V | X,
       "the host's kernel handled exits"},
      {UserSpace, "user_space_ns", "user space", ns, sum, V | X,
       "the program that emulates the machine handled exits"},
      {Halted, "halted_ns", "halted", ns, sum, V, "the guest had nothing to do"},
      {Preempted, "preempted_ns", "preempted", ns, sum, V,
       "could run, but its CPU ran another task"},
      {Blocked, "blocked_ns", "blocked", ns, sum, V, "its thread waited for something else"},
      {Busy, "busy_ns", "busy", ns, sum, D, "had at least one request"},
      {Depth, "depth_ns", "depth", ns, sum, D,
       "the times of all requests together; by the period it is the average queue"},
      {InCalls, "in_calls_ns", "in calls", ns, sum, T | F | P, "in the calls that read or wrote"},
      {Observer, "observer_ns", "watcher", ns, sum, M,
       "CPU time of the program that fills the table"},
      {Observing, "observing_ns", "watching", ns, sum, M,
       "what filling it cost all others: in the kernel, where things happen"},
      {Events, "events", "events", number, sum, M | C, "events"},
      {LostEvents, "lost_events", "lost", number, sum, M | C,
       "events that were lost, as far as counted"},
      {Losses, "losses", "losses", number, sum, M | C, "places where events were lost"},
      {MissedSwitches, "missed_switches", "missed", number, sum, M,
       "switches between tasks that were not recorded"},
      {Switches, "switches", "switches", number, sum, M | C, "from one task to another"},
      {Preemptions, "preemptions", "preempted", number, sum, T,
       "it lost its CPU though it could run"},
      {Sleeps, "sleeps", "sleeps", number, sum, T, "it gave up its CPU to wait"},
      {Migrations, "migrations", "moves", number, sum, T, "to another CPU"},
      {Wakeups, "wakeups", "wake-ups", number, sum, T, "it was woken"},
      {Faults, "faults", "faults", number, sum, T | V,
       "page faults; of a virtual CPU those of its memory"},
      {MajorFaults, "major_faults", "major", number, sum, T,
       "of the page faults those that it slept in: for a disk, as a rule"},
      {Syscalls, "syscalls", "calls", number, sum, T, "system calls that returned"},
      {Born, "born", "born", number, sum, M, "tasks that were made"},
      {Ended, "ended", "ended", number, sum, M, "tasks that ended"},
      {Exits, "exits", "exits", number, sum, V | X, "from the guest to its host"},
      {Injections, "injections", "injections", number, sum, V,
       "interrupts that were put into the guest"},
      {Ipis, "ipis", "IPIs", number, sum, V, "interrupts between the guest's CPUs"},
      {Mmio, "mmio", "MMIO", number, sum, V, "accesses to devices by memory"},
      {Pio, "pio", "PIO", number, sum, V, "accesses to devices by ports"},
      {Msr, "msr", "MSR", number, sum, V, "accesses to registers that the hypervisor keeps"},
      {Opens, "opens", "opens", number, sum, F, "times that it was opened"},
      {Reads, "reads", "reads", number, sum, T | F | P, "calls that read"},
      {Writes, "writes", "writes", number, sum, T | F | P, "calls that wrote"},
      {Requests, "requests", "requests", number, sum, D, "requests that were completed"},
      {InFlight, "in_flight", "in flight", number, last, D, "requests that it had at the end"},
      {PacketsIn, "packets_in", "packets in", number, sum, I, "packets received"},
      {PacketsOut, "packets_out", "packets out", number, sum, I, "packets queued to be sent"},
      {PacketsRefused, "packets_refused", "refused", number, sum, I,
       "packets that it did not take"},
      {Processes, "processes", "processes", number, last, M,
       "processes that were there at the end"},
      {Threads, "threads", "threads", number, last, M, "threads that were there at the end"},
      {OpenFiles, "open_files", "open files", number, last, M, "open files at the end"},
      {Connections, "connections", "connections", number, last, M, "TCP connections at the end"},
      {NoRoom, "no_room", "no room", number, sum, M,
       "things that are missing, since the tables they are counted in were full"},
      {ReadBytes, "read_bytes", "bytes read", bytes, sum, T | F | P | D | I,
       "as calls returned them; of a device from it; of an interface received"},
      {WrittenBytes, "written_bytes", "bytes written", bytes, sum, T | F | P | D | I,
       "as calls returned them; of a device to it; of an interface queued"},
      {NetReadBytes, "net_read_bytes", "bytes in", bytes, sum, T,
       "of the bytes read those from sockets to other machines"},
      {NetWrittenBytes, "net_written_bytes", "bytes out", bytes, sum, T,
       "of the bytes written those to sockets to other machines"},
      {DiskReadBytes, "disk_read_bytes", "from disk", bytes, sum, T,
       "that block devices read on its behalf"},
      {DiskWrittenBytes, "disk_written_bytes", "to disk", bytes, sum, T,
       "that block devices wrote on its behalf"},
      {Memory, "memory_bytes", "memory", bytes, last, T, "its process has in memory at the end"},
      {Frequency, "frequency_khz", "frequency", Unit::Kilohertz, last, C, "at the end"},
      {Cycles, "cycles", "cycles", number, sum, M | C | T, "cycles of the processor", "cycles"},
      {Instructions, "instructions", "instructions", number, sum, M | C | T,
       "instructions that were carried out", "instructions"},
      {CacheReferences, "cache_references", "cache", number, sum, M | C | T,
       "accesses to the last cache", "cache-references"},
      {CacheMisses, "cache_misses", "misses", number, sum, M | C | T,
       "of these accesses those that went to memory", "cache-misses"},
      {Branches, "branches", "branches", number, sum, M | C | T, "branches that were carried out",
       "branches"},
      {BranchMisses, "branch_misses", "mispredicted", number, sum, M | C | T,
       "of these branches those that were predicted wrongly", "branch-misses"},
      {BusCycles, "bus_cycles", "bus cycles", number, sum, M | C | T, "cycles of the bus",
       "bus-cycles"},
      {StalledFrontend, "stalled_cycles_frontend", "no fetch", number, sum, M | C | T,
       "cycles in which no instructions came to be carried out", "stalled-cycles-frontend"},
      {StalledBackend, "stalled_cycles_backend", "no progress", number, sum, M | C | T,
       "cycles in which what came could not be carried out", "stalled-cycles-backend"},
      {RefCycles, "ref_cycles", "ref cycles", number, sum, M | C | T,
       "cycles of a clock whose frequency does not change", "ref-cycles"},
      {CpuClock, "cpu_clock_ns", "CPU clock", ns, sum, M | C | T, "perf's clock of the CPU",
       "cpu-clock"},
      {TaskClock, "task_clock_ns", "task clock", ns, sum, M | C | T,
       "perf's clock of what runs, idle tasks included", "task-clock"},
      {PageFaults, "page_faults", "page faults", number, sum, M | C | T,
       "page faults that the processor raised", "page-faults"},
      {MinorPageFaults, "minor_page_faults", "minor", number, sum, M | C | T,
       "of these those that were served at once", "minor-faults"},
      {MajorPageFaults, "major_page_faults", "major", number, sum, M | C | T,
       "of these those that something was waited for: a disk, as a rule", "major-faults"},
      {ContextSwitches, "context_switches", "switched", number, sum, M | C | T,
       "switches between tasks, counted to whom the CPU was given", "context-switches"},
      {CpuMigrations, "cpu_migrations", "migrated", number, sum, M | C | T,
       "tasks that went to another CPU, counted there", "cpu-migrations"},
      {AlignmentFaults, "alignment_faults", "alignment", number, sum, M | C | T,
       "accesses to memory that the kernel had to put together", "alignment-faults"},
      {EmulationFaults, "emulation_faults", "emulated", number, sum, M | C | T,
       "instructions that the kernel had to carry out", "emulation-faults"},
      {CgroupSwitches, "cgroup_switches", "cgroups", number, sum, M | C | T,
       "switches to a task of another cgroup", "cgroup-switches"},
  }};
}();

constexpr const ColumnInfo& info_of(Column column) { return kColumns[static_cast<size_t>(column)]; }
constexpr bool has_column(RowKind kind, Column column) {
  return (info_of(column).rows & only(kind)) != 0;
}
constexpr bool is_time(Column column) { return info_of(column).unit == Unit::Nanoseconds; }
// Counters come last, and nothing else with them.
constexpr Column kFirstCounter = Column::Cycles;
constexpr size_t kCounterColumns = kColumnCount - static_cast<size_t>(kFirstCounter);
constexpr bool is_counter(Column column) { return column >= kFirstCounter; }
// By perf's name, which is the usual one; empty: tables do not have it.
std::optional<Column> column_of_counter(std::string_view counter);
std::optional<Column> column_called(std::string_view name);

// A task does one of these at a time; the first of them that it runs, the second that it waits for
// something else than a CPU.
constexpr bool is_task_state(Column column) { return column <= Column::Unknown; }
constexpr bool is_on_cpu(Column column) { return column <= Column::Exiting; }
constexpr bool is_blocked(Column column) {
  return column >= Column::WaitDisk && column <= Column::WaitOther;
}
// A virtual CPU does one of these.
constexpr bool is_vcpu_state(Column column) {
  return (column >= Column::Guest && column <= Column::Blocked) || column == Column::Unknown;
}
std::string_view state_name(Column state);  // "wait-disk"

// How far a column can be believed.
enum class Certainty : uint8_t {
  Exact,
  Estimated,  // it may be somewhat off, or not all of it is known
  Unknown,    // nobody told
};
std::string_view name_of(Certainty certainty);

}  // namespace strata::period
