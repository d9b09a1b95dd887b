// SPDX-License-Identifier: Apache-2.0
#include "top/detail.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/number_text.h"
#include "top/cell_values.h"
#include "top/header.h"

namespace strata::top {
namespace {

using period::Column;
using period::TaskRow;
using period::Unit;

enum PastId : size_t { kBegin, kState, kCpu, kUser, kSystem, kWait, kBlock, kOn, kIo, kColumns_ };

constexpr std::array<SheetColumn, kColumns_> kPastColumns = {{
    {"begin", "PERIOD FROM", Shown::Text, "when the period began", 29},
    {"state", "STATE", Shown::Text, "at its end", 8},
    {"cpu", "CPU%", Shown::Percent, "on CPUs"},
    {"usr", "USR%", Shown::Percent, "in its own code"},
    {"sys", "SYS%", Shown::Percent, "in the kernel, for it"},
    {"wait", "WAIT%", Shown::Percent, "could run, but its CPU ran another"},
    {"block", "BLK%", Shown::Percent, "waited for anything but a CPU"},
    {"on", "ON", Shown::Text, "what it waited for longest", 7},
    {"io", "I/O", Shown::Bytes, "bytes read and written, by its calls"},
}};

// Columns from the left, each as high as needed.
class Pieces {
 public:
  Pieces(Grid& grid, unsigned top, unsigned height)
      : grid_(grid), top_(top), height_(height), across_(std::max(1u, grid.width() / kWidth)) {}

  void put(std::string_view label, std::string_view number, std::string_view more, Style style) {
    const unsigned row = top_ + count_ / across_;
    if (row >= top_ + height_) return;
    const unsigned at = count_++ % across_ * kWidth;
    grid_.put(row, at, label, style, 13);
    const auto size = static_cast<unsigned>(number.size());
    grid_.put(row, at + (size < 31 ? 31 - size : 14), number, Style::Bold, 18);
    grid_.put(row, at + 32, more, Style::Dim, 8);
  }
  unsigned rows() const { return (count_ + across_ - 1) / across_; }

 private:
  static constexpr unsigned kWidth = 40;
  Grid& grid_;
  unsigned top_;
  unsigned height_;
  unsigned across_;
  unsigned count_ = 0;
};

std::string number_text(Unit unit, const Value& value) {
  if (value.kind == Value::Kind::Unknown) return "?";
  return (value.is_estimated ? "~" : "") + grouped(value.number) +
         (unit == Unit::Nanoseconds ? " ns"
          : unit == Unit::Bytes     ? " B"
                                    : "");
}

std::string who_text(const TaskRow& row, UserNames& users) {
  std::string text = row.name.empty() ? "?" : row.name;
  if (row.pid != period::kNoId) text += fmt::format("  PID {}", row.pid);
  if (row.tid != row.pid) text += fmt::format("  TID {}", row.tid);
  if (row.parent > 0) text += fmt::format("  of {}", row.parent);
  if (row.user) text += "  user " + users.name_of(*row.user);
  if (!row.container.empty()) text += "  container " + row.container;
  if (!row.cgroup.empty()) text += "  cgroup " + row.cgroup;
  if (!row.vm.empty()) text += "  VM " + row.vm;
  if (row.vcpu) text += fmt::format("  VCPU {}", *row.vcpu);
  if (row.cpu) text += fmt::format("  on CPU {}", *row.cpu);
  text += "  " + state_text(row);
  return text;
}

}  // namespace

void PastOfTask::find(const period::History& history, size_t position, const std::string& machine,
                      TaskLines lines, const LineKey& key, size_t most) {
  const int64_t begin = history.begin_of(position).count;
  const bool is_same = key_ == key && lines_ == lines && begin >= begin_;
  if (is_same && begin == begin_ && !periods_.empty()) return;
  const int64_t known = is_same ? begin_ : INT64_MIN;
  if (!is_same) periods_.clear();
  key_ = key;
  lines_ = lines;
  begin_ = begin;
  std::deque<PastTask> found;
  UserNames numbers(false);
  for (size_t i = position + 1; i-- > 0 && position - i < most;) {
    if (history.begin_of(i).count <= known) break;
    const period::Table table = history.at(i);
    const auto of = std::ranges::find(table.machines, machine, &period::Machine::name);
    if (of == table.machines.end()) continue;
    const TaskSheet sheet(*of, lines, numbers);
    for (size_t line = 0; line < sheet.size(); ++line)
      if (sheet.key(line) == key) found.push_back({table.begin, table.end, sheet.row(line)});
  }
  periods_.insert(periods_.begin(), found.begin(), found.end());
  if (periods_.size() > most) periods_.resize(most);
}

std::span<const SheetColumn> PastSheet::columns() const { return kPastColumns; }

Value PastSheet::value(size_t line, size_t column) const {
  const PastTask& past = periods_[line];
  const TaskRow& row = past.row;
  const Value whole = Value::of(static_cast<uint64_t>(std::max<int64_t>(past.end - past.begin, 1)));
  const auto share = [&](const Value& part) { return quotient(part, whole, 1000); };
  switch (static_cast<PastId>(column)) {
    case kBegin:
      return Value::of(time_text(past.begin, clock_));
    case kState:
      return Value::of(state_text(row));
    case kCpu:
      return share(Value::of(row.on_cpu_ns()));
    case kUser:
      return share(cell_value(machine_, row, Column::User));
    case kSystem:
      return share(cell_sum(machine_, row,
                            {Column::Syscall, Column::Trap, Column::Kernel, Column::Exiting}));
    case kWait:
      return share(cell_value(machine_, row, Column::WaitCpu));
    case kBlock:
      return share(Value::of(row.blocked_ns()));
    case kOn: {
      const std::optional<Column> longest = longest_wait(row);
      return longest ? Value::of(std::string(period::info_of(*longest).heading)) : Value();
    }
    case kIo:
      return cell_sum(machine_, row, {Column::ReadBytes, Column::WrittenBytes});
    case kColumns_:
      break;
  }
  return {};
}

Style PastSheet::style(size_t line, size_t column) const {
  const TaskRow& row = periods_[line].row;
  switch (static_cast<PastId>(column)) {
    case kState:
      return row.has_ended ? Style::Error : row.state ? style_of(*row.state) : Style::Unknown;
    case kUser:
      return Style::User;
    case kSystem:
      return Style::System;
    case kWait:
      return Style::Waiting;
    case kBlock:
    case kOn:
      return Style::Blocked;
    default:
      return Style::Plain;
  }
}

unsigned draw_task(const TaskRow& row, const period::Machine& machine, const Scale& scale,
                   UserNames& users, Grid& grid, unsigned top, unsigned height) {
  if (height == 0) return 0;
  grid.put(top, 0, who_text(row, users), Style::Bold);
  Pieces pieces(grid, top + 1, height - 1);
  for (const Column column : TaskRow::Values::kOrder) {
    const period::ColumnInfo& info = period::info_of(column);
    const Value value = cell_value(machine, row, column);
    if (value.kind != Value::Kind::Number || value.number == 0) continue;
    const bool is_share = info.unit == Unit::Nanoseconds;
    std::string more;
    if (is_share) more = text_of(value, Shown::Share, scale) + " %";
    pieces.put(info.heading, number_text(info.unit, value), more,
               period::is_task_state(column) ? style_of(column) : Style::Dim);
  }
  return 1 + std::min(pieces.rows(), height - 1);
}

}  // namespace strata::top
