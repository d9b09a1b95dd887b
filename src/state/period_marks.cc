// SPDX-License-Identifier: Apache-2.0
//
// How far the columns of a period can be believed: by what the trace told so far.
#include <algorithm>

#include "state/period_cutter.h"

namespace strata::state {
namespace {

using period::Certainty;
using period::Column;
using period::RowKind;

void mark_all(period::Marks& marks, Certainty certainty, std::initializer_list<Column> columns) {
  for (size_t kind = 0; kind < period::kRowKinds; ++kind)
    for (const Column column : columns)
      if (has_column(RowKind(kind), column)) marks.set(RowKind(kind), column, certainty);
}

}  // namespace

void PeriodCutter::mark(period::Machine& machine) const {
  using enum Column;
  using Word = trace::Word;
  period::Marks& marks = machine.marks;
  const auto mark_tasks = [&](Certainty certainty, std::initializer_list<Column> columns) {
    for (const Column column : columns) marks.set(RowKind::Task, column, certainty);
  };
  // Numbers of what may have been lost, too.
  if (machine.values[Losses] > 0 || machine.values[MissedSwitches] > 0) {
    mark_all(marks, Certainty::Estimated, {Switches,      Preemptions,
                                           Sleeps,        Migrations,
                                           Wakeups,       Faults,
                                           Syscalls,      Born,
                                           Ended,         Exits,
                                           Injections,    Ipis,
                                           Mmio,          Pio,
                                           Msr,           Opens,
                                           Reads,         Writes,
                                           Requests,      PacketsIn,
                                           PacketsOut,    PacketsRefused,
                                           ReadBytes,     WrittenBytes,
                                           NetReadBytes,  NetWrittenBytes,
                                           DiskReadBytes, DiskWrittenBytes});
  }
  if (lost_uncounted_) mark_all(marks, Certainty::Estimated, {LostEvents});
  mark_all(marks, Certainty::Estimated, {Processes, Threads});
  mark_all(marks, Certainty::Estimated, {MajorFaults});
  mark_all(marks, Certainty::Unknown, {InCalls, OpenFiles, Connections, Observing});
  mark_counters(machine);

  // What a wait is for may show only when it ends.
  if (std::ranges::any_of(machine.tasks, [](const period::TaskRow& row) {
        return row.state == WaitOther && !row.is_kernel;
      }))
    mark_tasks(Certainty::Estimated, {WaitOther});
  if (!saw(Word::SyscallEntry) && !saw(Word::SyscallExit)) {
    mark_tasks(Certainty::Estimated, {WaitDisk, WaitNet, WaitFutex, WaitPipe, WaitTimer, WaitPoll,
                                      WaitChild, WaitFault, WaitOther});
    mark_all(marks, Certainty::Unknown, {User, Syscall});
    mark_tasks(Certainty::Unknown,
               {Syscalls, Reads, Writes, ReadBytes, WrittenBytes, NetReadBytes, NetWrittenBytes});
  }
  if (!saw(Word::SchedSwitch)) {
    mark_tasks(Certainty::Estimated, {WaitCpu, WaitOther});
    mark_tasks(Certainty::Unknown, {Preemptions, Sleeps, MajorFaults});
    mark_all(marks, Certainty::Unknown, {Switches});
  }
  if (!saw(Word::SchedWaking) && !saw(Word::SchedWakeup)) {
    mark_tasks(Certainty::Estimated, {WaitCpu});
    mark_tasks(Certainty::Unknown, {Wakeups});
  }
  if (!saw(Word::SchedMigrate)) mark_tasks(Certainty::Estimated, {Migrations});
  if (!saw(Word::IrqEntry)) mark_all(marks, Certainty::Unknown, {Irq});
  if (!saw(Word::SoftirqEntry)) mark_all(marks, Certainty::Unknown, {Softirq});
  if (!saw(Word::TrapEntry)) mark_all(marks, Certainty::Unknown, {Trap});
  if (!saw(Word::VmEntry)) mark_all(marks, Certainty::Unknown, {Virt});
  if (!saw(Word::FaultInUser) && !saw(Word::FaultInKernel))
    mark_tasks(Certainty::Unknown, {Faults, MajorFaults});
  if (!saw(Word::BlockComplete)) mark_tasks(Certainty::Unknown, {DiskReadBytes, DiskWrittenBytes});
  if (!saw(Word::TaskNew) && !saw(Word::TaskFork)) mark_all(marks, Certainty::Unknown, {Born});
  if (!saw(Word::TaskExit)) mark_all(marks, Certainty::Estimated, {Ended});
  if (!saw(Word::CpuFrequency)) mark_all(marks, Certainty::Unknown, {Frequency});
  if (!is_memory_told())
    mark_tasks(Certainty::Unknown, {Memory});
  else if (memory_is_estimated_)
    mark_tasks(Certainty::Estimated, {Memory});
}

// Those that were recorded. What was counted around a loss is nobody's.
void PeriodCutter::mark_counters(period::Machine& machine) const {
  for (const period::ColumnInfo& info : period::kColumns)
    if (is_counter(info.id)) mark_all(machine.marks, Certainty::Unknown, {info.id});
  const auto certainty =
      machine.values[Column::Losses] > 0 ? Certainty::Estimated : Certainty::Exact;
  for (const std::string& name : engine_.counters().names())
    if (const auto column = period::column_of_counter(name))
      mark_all(machine.marks, certainty, {*column});
}

}  // namespace strata::state
