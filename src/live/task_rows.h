// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "live/cgroup_names.h"
#include "live/counter_rows.h"
#include "live/slots.h"
#include "live/task_sums.h"
#include "period/table.h"

namespace strata::live {

// The rows of tasks: what their slots tell now, less what they told at the last edge. Tasks whose
// slots have not changed are passed over at a glance. The slots of those that are gone go back to
// the programs when they have been told.
//
// Slots are copied first, and looked at then: what changes after the period's end and before its
// slot was copied counts as if it had happened at the end, so that should not take long.
class TaskRows {
 public:
  // All slots are free, and none of them is used before. `cgroups` must outlive it.
  TaskRows(const Memory& memory, CgroupNames& cgroups);

  size_t size() const { return known_.size(); }
  // What counters count is told, too, from now on; null: no more.
  void tell_counters(CounterRows* counters) { counters_ = counters; }
  // What slots tell now. May be called again before what follows.
  void copy();
  // Periods begin here, with the tasks that are there.
  void begin(uint64_t moment);
  // What happened up to `end`, when they were copied, since the last call. Times of rows are
  // CLOCK_MONOTONIC and `offset`.
  void tell(uint64_t end, int64_t offset, bool tells_calls, std::vector<period::TaskRow>& rows);

 private:
  // A task, and its slot when it was looked at last.
  struct Known {
    uint32_t index = 0;
    bool was_there = false;  // at the edge, and so is what follows
    bool was_told = false;
    bool was_told_as_ended = false;
    Doing state = kIsDead;   // at the edge
    bool is_copied = false;  // since then
    TaskSlot slot = {};
    TaskSlot copy = {};
  };
  void find_new();
  void free(uint32_t index);
  bool is_unchanged(const Known& known) const;
  static void look_at(Known& known, uint64_t moment);
  // False: there is nothing to tell.
  bool tell(Known& known, uint64_t end, int64_t offset, bool tells_calls, period::TaskRow& row);

  Memory memory_;
  CgroupNames& cgroups_;
  CounterRows* counters_ = nullptr;
  uint64_t seen_ = 0;  // of those that were taken
  uint64_t edge_ = 0;
  std::vector<Known> known_;
};

}  // namespace strata::live
