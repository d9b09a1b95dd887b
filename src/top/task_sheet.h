// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <vector>

#include "period/table.h"
#include "top/sheet.h"
#include "top/user_names.h"

namespace strata::top {

enum class TaskLines : uint8_t {
  Processes,  // the threads of each taken together
  Threads,
  Tree,  // processes below those that made them
};

// What tasks did in a period: all that the screens of processes show, of which each shows a part.
class TaskSheet : public Sheet {
 public:
  TaskSheet(const period::Machine& machine, TaskLines lines, UserNames& users);

  std::span<const SheetColumn> columns() const override;
  size_t size() const override { return lines_.size(); }
  Value value(size_t line, size_t column) const override;
  bool is_told(size_t column) const override;
  LineKey key(size_t line) const override { return key_of(*lines_[line].row); }
  Style style(size_t line, size_t column) const override;
  std::optional<size_t> parent(size_t line) const override { return lines_[line].parent; }

  // The performance counter that a column of such sheets is of, by perf's name; empty: of none.
  static std::string_view counter_of(std::string_view column);

  const period::TaskRow& row(size_t line) const { return *lines_[line].row; }
  static LineKey key_of(const period::TaskRow& row) {
    return {static_cast<uint64_t>(row.tid), static_cast<uint64_t>(row.start)};
  }

 private:
  struct Line {
    const period::TaskRow* row = nullptr;
    uint32_t threads = 1;
    std::optional<size_t> parent = std::nullopt;
  };
  void take_together();
  void find_parents();

  const period::Machine& machine_;
  UserNames& users_;
  std::vector<Line> lines_;
  std::deque<period::TaskRow> sums_;  // of processes with several threads
};

// What it was blocked on longest; empty: on nothing.
std::optional<period::Column> longest_wait(const period::TaskRow& row);
// "disk", "exit 3": how a task was at the end of the period.
std::string state_text(const period::TaskRow& row);
// The colour of a state of tasks.
Style style_of(period::Column state);

}  // namespace strata::top
