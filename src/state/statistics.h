// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "state/task.h"

namespace strata::state {

// Where time is charged and events are counted: one task on one CPU in one mode and submode.
// Interrupts are their CPU's, not the task's that they hit: their task is kNoTask.
struct Slot {
  TaskId task = kNoTask;
  CpuIndex cpu = kNoCpu;
  Mode mode = Mode::Unknown;
  NameId submode = kNoName;
  uint64_t cpu_ns = 0;         // with this mode on top
  uint64_t elapsed_ns = 0;     // from entering it to leaving it, running or not
  uint64_t cumulative_ns = 0;  // on a CPU, with this mode or what nested in it on top

  bool same_place(const Slot& other) const {
    return task == other.task && cpu == other.cpu && mode == other.mode && submode == other.submode;
  }
};

// How often an event type occurred in a slot.
struct EventCount {
  uint32_t slot = 0;
  uint32_t type = 0;  // see Engine::types()
  uint64_t count = 0;
};

// The sums of a pass. Slots are found by hashing once, when a mode is entered; charging time is an
// addition. Memory grows with the number of different slots, not with the trace.
class Statistics {
 public:
  Statistics();

  uint32_t find(TaskId task, CpuIndex cpu, Mode mode, NameId submode);
  Slot& operator[](uint32_t slot) { return slots_[slot]; }
  const std::vector<Slot>& slots() const { return slots_; }

  void count(uint32_t slot, uint32_t type) {
    const uint64_t key = key_of(slot, type);
    for (size_t i = home(key, counts_shift_);; i = (i + 1) & (counts_.size() - 1)) {
      Counted& counted = counts_[i];
      if (counted.key == key) [[likely]] {
        ++counted.count;
        return;
      }
      if (counted.key == kEmpty) {
        add_count(key, i);
        return;
      }
    }
  }
  std::vector<EventCount> counts() const;

  // Times and counts begin at nothing again; the slots stay.
  void reset();

 private:
  static constexpr uint64_t kEmpty = UINT64_MAX;
  struct Counted {
    uint64_t key = kEmpty;
    uint64_t count = 0;
  };

  static uint64_t key_of(uint32_t slot, uint32_t type) { return uint64_t{slot} << 32 | type; }
  static size_t home(uint64_t hash, unsigned shift) {
    return (hash * 0x9e3779b97f4a7c15u) >> shift;
  }
  static uint64_t hash_of(const Slot& slot);
  void add_count(uint64_t key, size_t i);
  void grow_slots();

  std::vector<Slot> slots_;
  std::vector<uint32_t> places_;  // of slots; a power of two, at most half full
  unsigned places_shift_;
  std::vector<Counted> counts_;  // the same
  unsigned counts_shift_;
  size_t counts_used_ = 0;
};

}  // namespace strata::state
