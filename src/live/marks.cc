// SPDX-License-Identifier: Apache-2.0
#include "live/marks.h"

#include <initializer_list>

namespace strata::live {

using period::Certainty;
using period::Column;
using period::Group;
using period::RowKind;

void mark(period::Groups told, period::Marks& marks) {
  using enum Column;
  const auto mark_all = [&](Certainty certainty, std::initializer_list<Column> columns) {
    for (size_t kind = 0; kind < period::kRowKinds; ++kind)
      for (const Column column : columns)
        if (has_column(RowKind(kind), column)) marks.set(RowKind(kind), column, certainty);
  };
  mark_all(Certainty::Estimated, {Observing, Memory, Busy, Depth, Processes, Threads, LostEvents});
  mark_all(Certainty::Unknown, {Trap, Frequency, Opens});
  if (!told.has(Group::Calls)) {
    // By the kernel's ticks; and what is waited for by one flag of the kernel's.
    mark_all(Certainty::Estimated, {Running, User, Syscall, WaitDisk, WaitOther});
    mark_all(Certainty::Unknown,
             {WaitNet, WaitFutex, WaitPipe, WaitTimer, WaitPoll, WaitChild, WaitFault, Syscalls});
  }
  if (!told.has(Group::Totals)) {
    mark_all(Certainty::Unknown, {OpenFiles, Connections});
    for (const period::ColumnInfo& info : period::kColumns)
      if (has_column(RowKind::Device, info.id))
        marks.set(RowKind::Device, info.id, Certainty::Unknown);
  }
  if (!told.has(Group::Io)) {
    for (const RowKind kind : {RowKind::Task, RowKind::File, RowKind::Descriptor})
      for (const Column column :
           {InCalls, Reads, Writes, ReadBytes, WrittenBytes, NetReadBytes, NetWrittenBytes})
        if (has_column(kind, column)) marks.set(kind, column, Certainty::Unknown);
  }
  // As the kernel charges them: what is written is charged to who made it so, and before.
  mark_all(Certainty::Estimated, {DiskReadBytes, DiskWrittenBytes});
  if (!told.has(Group::Vms)) mark_all(Certainty::Unknown, {Virt});
  // Those that are watched are marked when they are told.
  for (const period::ColumnInfo& info : period::kColumns)
    if (is_counter(info.id)) mark_all(Certainty::Unknown, {info.id});
}

}  // namespace strata::live
