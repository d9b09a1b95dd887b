// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "live/bpf/layout.h"
#include "period/table.h"

namespace strata::live {

// What a task had done altogether at a moment, as its slot tells.
struct TaskSums {
  std::array<uint64_t, kDoings> ns = {};
  Doing doing = kIsDead;  // at that moment
  uint32_t wakeups = 0;

  // The moment is not before what the slot tells last. Where it is, since something happened just
  // when it was read, the sums are those of the latter.
  static TaskSums at(const TaskSlot& slot, uint64_t moment);
};

// Where the time in which a task did this is told; of what runs by its mode, if that is known.
period::Column column_of(Doing doing, bool is_kernel);

// What it did in between, of one and the same task. `tells_calls`: in which mode it ran is known
// where it is told; otherwise it is estimated by what the kernel's ticks found.
void put_difference(const TaskSlot& before, const TaskSums& before_sums, const TaskSlot& now,
                    const TaskSums& now_sums, bool tells_calls, period::TaskRow::Values& values);

}  // namespace strata::live
