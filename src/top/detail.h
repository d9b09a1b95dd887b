// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "period/history.h"
#include "top/grid.h"
#include "top/task_sheet.h"

namespace strata::top {

// A task in one period of several.
struct PastTask {
  int64_t begin = 0;
  int64_t end = 0;
  period::TaskRow row = {};
};

// What a task or a process did up to the period on screen, from table to table.
class PastOfTask {
 public:
  // At most this many periods, the youngest first. Periods in which it did nothing are left out.
  void find(const period::History& history, size_t position, const std::string& machine,
            TaskLines lines, const LineKey& key, size_t most);
  const std::deque<PastTask>& periods() const { return periods_; }

 private:
  std::deque<PastTask> periods_;
  LineKey key_ = {};
  TaskLines lines_ = {};
  int64_t begin_ = 0;  // of the youngest that was looked at
};

class PastSheet : public Sheet {
 public:
  PastSheet(const period::Machine& machine, const std::string& clock,
            const std::deque<PastTask>& periods)
      : machine_(machine), clock_(clock), periods_(periods) {}

  std::span<const SheetColumn> columns() const override;
  size_t size() const override { return periods_.size(); }
  Value value(size_t line, size_t column) const override;
  LineKey key(size_t line) const override { return {static_cast<uint64_t>(periods_[line].begin)}; }
  Style style(size_t line, size_t column) const override;

 private:
  const period::Machine& machine_;  // how certain columns are
  const std::string& clock_;
  const std::deque<PastTask>& periods_;
};

// Everything that a row tells, times exact to the nanosecond. Gives the rows that it took.
unsigned draw_task(const period::TaskRow& row, const period::Machine& machine, const Scale& scale,
                   UserNames& users, Grid& grid, unsigned top, unsigned height);

}  // namespace strata::top
