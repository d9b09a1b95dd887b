// SPDX-License-Identifier: Apache-2.0
#include "top/task_sheet.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "top/cell_values.h"
#include "top/counter_columns.h"

namespace strata::top {
namespace {

using period::Column;
using period::TaskRow;

enum Id : size_t {
  kPid,
  kTid,
  kParent,
  kUser,
  kState,
  kCpu,
  kUsr,
  kSys,
  kGuest,
  kIrq,
  kWait,
  kBlock,
  kOn,
  kMemory,
  kSwitches,
  kPreempted,
  kMoves,
  kWakeups,
  kFaults,
  kMajor,
  kCalls,
  kLast,
  kThreads,
  kRead,
  kWrite,
  kIo,
  kDiskRead,
  kDiskWritten,
  kNetIn,
  kNetOut,
  kOps,
  kLatency,
  kIpc,
  kMissRate,
  kMispredicted,
  kContainer,
  kVm,
  kName,
  kCount_,  // and then the counters
};

constexpr std::array<SheetColumn, kCount_> kOwnColumns = {{
    {"pid", "PID", Shown::Id, "the process"},
    {"tid", "TID", Shown::Id, "the thread"},
    {"ppid", "PPID", Shown::Id, "the process that made it"},
    {"user", "USER", Shown::Text, "whose it is", 8},
    {"state", "STATE", Shown::Text, "at the end: on a CPU, waiting for what, or how it ended", 8},
    {"cpu", "CPU%", Shown::Share, "on CPUs"},
    {"usr", "USR%", Shown::Share, "in its own code"},
    {"sys", "SYS%", Shown::Share, "in the kernel, for it"},
    {"guest", "VIRT%", Shown::Share, "in a guest's code"},
    {"irq", "IRQ%", Shown::Share, "it would have run, but its CPU handled interrupts"},
    {"wait", "WAIT%", Shown::Share, "could run, but its CPU ran another"},
    {"block", "BLK%", Shown::Share, "waited for anything but a CPU"},
    {"on", "ON", Shown::Text, "what it waited for longest", 7},
    {"mem", "MEM", Shown::Bytes, "memory of its process"},
    {"sleeps", "SLEEP/s", Shown::PerSecond, "gave up its CPU to wait", 7},
    {"preempted", "PREEM/s", Shown::PerSecond, "lost its CPU though it could run", 7},
    {"moves", "MOVE/s", Shown::PerSecond, "went to another CPU"},
    {"wakes", "WAKE/s", Shown::PerSecond, "was woken"},
    {"faults", "FLT/s", Shown::PerSecond, "page faults"},
    {"major", "MAJ/s", Shown::PerSecond, "page faults that it slept in"},
    {"calls", "CALL/s", Shown::PerSecond, "system calls"},
    {"last", "ON", Shown::Id, "the CPU that it was on last", 4},
    {"threads", "THR", Shown::Id, "threads that did something", 4},
    {"read", "READ/s", Shown::BytesPerSecond, "bytes read, by its calls"},
    {"write", "WRIT/s", Shown::BytesPerSecond, "bytes written, by its calls"},
    {"io", "I/O/s", Shown::BytesPerSecond, "bytes read and written, by its calls"},
    {"dread", "DSKR/s", Shown::BytesPerSecond, "bytes that disks read for it"},
    {"dwrite", "DSKW/s", Shown::BytesPerSecond, "bytes that disks wrote for it"},
    {"in", "NETI/s", Shown::BytesPerSecond, "bytes from other machines"},
    {"out", "NETO/s", Shown::BytesPerSecond, "bytes to other machines"},
    {"ops", "OPS/s", Shown::PerSecond, "calls that read or wrote"},
    {"lat", "LAT", Shown::Duration, "how long one of these calls took"},
    {"ipc", "IPC", Shown::Ratio, "instructions a cycle"},
    {"missrate", "MISS%", Shown::Percent, "misses, of its accesses to the last cache"},
    {"misprate", "MISP%", Shown::Percent, "branches that were predicted wrongly, of all"},
    {"container", "CONTAINER", Shown::Text, "in which it runs", 12},
    {"vm", "VM", Shown::Text, "whose process it is", 12},
    {"name", "NAME", Shown::Text, "of the program", 15},
}};

constexpr auto kTaskColumns = [] {
  std::array<SheetColumn, kCount_ + period::kCounterColumns> all;
  std::ranges::copy(kOwnColumns, all.begin());
  std::ranges::copy(kCounterSheetColumns, all.begin() + kCount_);
  return all;
}();

Column counter_at(size_t column) {
  return Column(static_cast<size_t>(period::kFirstCounter) + column - kCount_);
}

bool is_ready(const TaskRow& row) { return row.state && *row.state == Column::WaitCpu; }

// Processes first by number, then by age: threads belong to the one that was there.
void add_thread(const TaskRow& thread, TaskRow& process) {
  process.values.combine(thread.values);
  const bool is_leader = thread.tid == thread.pid;
  if (is_leader) {
    process.tid = thread.tid;
    process.start = thread.start;
    process.name = thread.name;
    process.exit_code = thread.exit_code;
    process.exit_signal = thread.exit_signal;
    process.has_ended = thread.has_ended;
    process.was_born = thread.was_born;
  }
  // As busy as the busiest of them.
  const auto rank = [](const TaskRow& row) {
    return !row.state ? 0 : period::is_on_cpu(*row.state) ? 3 : is_ready(row) ? 2 : 1;
  };
  if (rank(thread) > rank(process) || (is_leader && rank(thread) == rank(process)))
    process.state = thread.state;
}

std::string exit_text(const TaskRow& row) {
  if (row.exit_signal && *row.exit_signal != 0) return "sig " + std::to_string(*row.exit_signal);
  if (row.exit_code) return "exit " + std::to_string(*row.exit_code);
  return "ended";
}

}  // namespace

std::optional<Column> longest_wait(const TaskRow& row) {
  std::optional<Column> longest;
  uint64_t most = 0;
  for (const Column column : TaskRow::Values::kOrder) {
    if (!period::is_blocked(column) || row.values[column] == period::kUnknownCell) continue;
    if (row.values[column] <= most) continue;
    most = row.values[column];
    longest = column;
  }
  return longest;
}

std::string state_text(const TaskRow& row) {
  if (row.has_ended) return exit_text(row);
  if (!row.state) return "?";
  std::string_view name = period::state_name(*row.state);
  if (name == "wait-cpu") return "ready";
  if (name == "wait-other") return "waits";
  if (name.starts_with("wait-")) name.remove_prefix(5);
  return std::string(name);
}

Style style_of(Column state) {
  if (period::is_blocked(state)) return Style::Blocked;
  switch (state) {
    case Column::User:
      return Style::User;
    case Column::Virt:
      return Style::Virt;
    case Column::Irq:
    case Column::Softirq:
      return Style::Irq;
    case Column::WaitCpu:
      return Style::Waiting;
    case Column::Unknown:
      return Style::Unknown;
    default:
      return period::is_on_cpu(state) ? Style::System : Style::Dim;
  }
}

TaskSheet::TaskSheet(const period::Machine& machine, TaskLines lines, UserNames& users)
    : machine_(machine), users_(users) {
  lines_.reserve(machine.tasks.size());
  if (lines == TaskLines::Threads)
    for (const TaskRow& row : machine.tasks) lines_.push_back({&row});
  else
    take_together();
  if (lines == TaskLines::Tree) find_parents();
}

void TaskSheet::take_together() {
  std::vector<const TaskRow*> rows;
  rows.reserve(machine_.tasks.size());
  for (const TaskRow& row : machine_.tasks) rows.push_back(&row);
  const auto process_of = [](const TaskRow& row) {
    return row.pid == period::kNoId ? row.tid : row.pid;
  };
  std::ranges::sort(rows, {}, [&](const TaskRow* row) {
    return std::tuple(process_of(*row), row->start, row->tid != process_of(*row));
  });
  const TaskRow* first = nullptr;  // of the line's threads
  for (const TaskRow* row : rows) {
    const bool is_leader = row->tid == process_of(*row);
    const bool is_next = first == nullptr || process_of(*row) != process_of(*first) ||
                         (is_leader && lines_.back().row->tid == process_of(*row));
    if (is_next) {
      first = row;
      lines_.push_back({row});
      continue;
    }
    Line& line = lines_.back();
    if (line.threads == 1) line.row = &sums_.emplace_back(*line.row);
    add_thread(*row, sums_.back());
    ++line.threads;
  }
}

void TaskSheet::find_parents() {
  std::unordered_map<int32_t, size_t> by_pid;
  for (size_t i = 0; i < lines_.size(); ++i) by_pid[lines_[i].row->pid] = i;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const TaskRow& row = *lines_[i].row;
    const auto found = by_pid.find(row.parent);
    // A number that was given again is nobody's parent that is younger than its child.
    if (row.parent > 0 && found != by_pid.end() && found->second != i &&
        lines_[found->second].row->start <= row.start)
      lines_[i].parent = found->second;
  }
}

std::span<const SheetColumn> TaskSheet::columns() const { return kTaskColumns; }

std::string_view TaskSheet::counter_of(std::string_view column) {
  const auto found = std::ranges::find(kCounterSheetColumns, column, &SheetColumn::name);
  if (found == kCounterSheetColumns.end()) return {};
  const auto at = static_cast<size_t>(found - kCounterSheetColumns.begin());
  return period::info_of(counter_at(kCount_ + at)).counter;
}

bool TaskSheet::is_told(size_t column) const {
  const auto are_told = [&](std::initializer_list<Column> counters) {
    return std::ranges::none_of(counters, [&](Column counter) {
      return machine_.marks.of(period::RowKind::Task, counter) == period::Certainty::Unknown;
    });
  };
  if (column >= kCount_) return are_told({counter_at(column)});
  if (column == kIpc) return are_told({Column::Instructions, Column::Cycles});
  if (column == kMissRate) return are_told({Column::CacheMisses, Column::CacheReferences});
  if (column == kMispredicted) return are_told({Column::BranchMisses, Column::Branches});
  return true;
}

Value TaskSheet::value(size_t line, size_t column) const {
  const TaskRow& row = *lines_[line].row;
  const auto id = [](int32_t number) {
    return number < 0 ? Value() : Value::of(static_cast<uint64_t>(number));
  };
  const auto cell = [&](Column which) { return cell_value(machine_, row, which); };
  const auto sum = [&](std::initializer_list<Column> all) { return cell_sum(machine_, row, all); };
  const auto rate = [&](Column part, Column whole, uint64_t scale) {
    return quotient(cell(part), cell(whole), scale);
  };
  if (column >= kCount_) return cell(counter_at(column));
  switch (static_cast<Id>(column)) {
    case kPid:
      return row.pid == period::kNoId ? id(row.tid) : id(row.pid);
    case kTid:
      return id(row.tid);
    case kParent:
      return id(row.parent);
    case kUser:
      return row.user ? Value::of(users_.name_of(*row.user)) : Value();
    case kState:
      return Value::of(state_text(row));
    case kCpu:
      return Value::of(row.on_cpu_ns());
    case kUsr:
      return sum({Column::User});
    case kSys:
      return sum({Column::Syscall, Column::Trap, Column::Kernel, Column::Exiting});
    case kGuest:
      return cell(Column::Virt);
    case kIrq:
      return sum({Column::Irq, Column::Softirq});
    case kWait:
      return cell(Column::WaitCpu);
    case kBlock:
      return Value::of(row.blocked_ns());
    case kOn: {
      const std::optional<Column> longest = longest_wait(row);
      if (!longest) return {};
      return Value::of(std::string(period::info_of(*longest).heading));
    }
    case kMemory:
      return cell(Column::Memory);
    case kSwitches:
      return cell(Column::Sleeps);
    case kPreempted:
      return cell(Column::Preemptions);
    case kMoves:
      return cell(Column::Migrations);
    case kWakeups:
      return cell(Column::Wakeups);
    case kFaults:
      return cell(Column::Faults);
    case kMajor:
      return cell(Column::MajorFaults);
    case kCalls:
      return cell(Column::Syscalls);
    case kLast:
      return row.cpu ? Value::of(*row.cpu) : Value();
    case kThreads:
      return Value::of(lines_[line].threads);
    case kRead:
      return cell(Column::ReadBytes);
    case kWrite:
      return cell(Column::WrittenBytes);
    case kIo:
      return sum({Column::ReadBytes, Column::WrittenBytes});
    case kDiskRead:
      return cell(Column::DiskReadBytes);
    case kDiskWritten:
      return cell(Column::DiskWrittenBytes);
    case kNetIn:
      return cell(Column::NetReadBytes);
    case kNetOut:
      return cell(Column::NetWrittenBytes);
    case kOps:
      return sum({Column::Reads, Column::Writes});
    case kLatency:
      return quotient(cell(Column::InCalls), sum({Column::Reads, Column::Writes}), 1);
    case kIpc:
      return rate(Column::Instructions, Column::Cycles, 1000);
    case kMissRate:
      return rate(Column::CacheMisses, Column::CacheReferences, 1000);
    case kMispredicted:
      return rate(Column::BranchMisses, Column::Branches, 1000);
    case kContainer:
      return Value::of(row.container);
    case kVm:
      return Value::of(row.vm);
    case kName:
      return Value::of(row.name.empty() ? "?" : row.name);
    case kCount_:
      break;
  }
  return {};
}

Style TaskSheet::style(size_t line, size_t column) const {
  const TaskRow& row = *lines_[line].row;
  switch (static_cast<Id>(column)) {
    case kState:
      return row.has_ended ? Style::Error : row.state ? style_of(*row.state) : Style::Unknown;
    case kUsr:
      return Style::User;
    case kSys:
      return Style::System;
    case kGuest:
      return Style::Virt;
    case kIrq:
      return Style::Irq;
    case kWait:
      return Style::Waiting;
    case kBlock:
    case kOn:
      return Style::Blocked;
    case kRead:
    case kDiskRead:
    case kNetIn:
      return Style::Read;
    case kWrite:
    case kDiskWritten:
    case kNetOut:
      return Style::Written;
    case kName:
      return row.has_ended ? Style::Error : row.was_born ? Style::Good : Style::Plain;
    default:
      return Style::Plain;
  }
}

}  // namespace strata::top
