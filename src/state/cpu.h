// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/units.h"
#include "state/task.h"

namespace strata::state {

// A processor: which task it runs, and the interrupts that it handles on top of that.
struct Cpu {
  static constexpr uint32_t kDeepest = 8;  // interrupts do not nest deeper

  bool is_there = false;  // an event of it has come
  CpuIndex index = 0;
  TaskId task = kNoTask;    // kNoTask: nobody knows
  Task* running = nullptr;  // that task
  Tid tid = kNoTid;         // the same as a thread's id
  TaskId idle = kNoTask;    // its idle task
  NameId idle_level = kNoName;

  // What is on top, and since when that was not charged yet.
  Mode mode = Mode::Unknown;
  NameId submode = kNoName;
  uint32_t slot = 0;
  uint32_t unknown_slot = 0;  // where time is charged while nobody knows who runs
  int64_t since = 0;
  int64_t shown_since = 0;               // when it came on top
  std::array<uint64_t, kModes> ns = {};  // how long each was on top before

  int64_t last_event = 0;
  uint32_t depth = 0;  // of interrupts
  std::array<Frame, kDeepest> interrupts;

  uint64_t frequency_khz = 0;  // 0: not told

  // One that is known and not the idle task.
  bool runs_task() const { return running != nullptr && task != idle; }
};

}  // namespace strata::state
