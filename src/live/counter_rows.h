// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "live/bpf/layout.h"
#include "period/table.h"

namespace strata::live {

// What performance counters counted: what the memory of the programs tells now, less what was told
// before. What a counter counted that had no place in the processor for a part of the time is
// scaled up to the whole of it, and is an estimate then; so is all in the first table, in which it
// was not counted from the beginning, and while there is a CPU whose counters are not read.
class CounterRows {
 public:
  // The counters' columns, in the order in which they are counted. The memory, which must outlive
  // it, is 0 at first.
  CounterRows(std::span<Counts> tasks, std::span<CpuCounters> cpus,
              std::vector<period::Column> columns);

  // Whether something was counted for the task in this slot since it was told last.
  bool has_news(uint32_t slot) const;
  // Adds what has been counted for it since. False: nothing.
  bool tell(uint32_t slot, period::TaskRow::Values& values);
  // The task is gone: another one may get its slot.
  void forget(uint32_t slot);

  // Of the CPUs that have rows. To be called when the tasks' rows are told; marks the columns.
  void tell(period::Machine& machine);

 private:
  template <typename Values>
  bool put_difference(const Counts& before, const Counts& now, Values& values);

  std::span<Counts> tasks_;
  std::span<CpuCounters> cpus_;
  std::vector<period::Column> columns_;
  std::unordered_map<uint32_t, Counts> told_;  // by slot, of tasks that something was counted for
  struct CpuTold {
    Counts counts = {};
    uint64_t unread = 0;
  };
  std::vector<CpuTold> cpus_told_;
  std::bitset<kCounters> are_estimates_;  // in this table
};

}  // namespace strata::live
