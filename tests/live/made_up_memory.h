// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "live/slots.h"

namespace strata::live {

// The memory of programs that are not there, and what they do to it.
class MadeUpMemory {
 public:
  explicit MadeUpMemory(uint32_t slots, uint32_t cpus = 1)
      : tasks_(slots), cpus_(cpus), free_slots_(slots) {}

  Memory memory() {
    return {.tasks = tasks_, .cpus = cpus_, .free_slots = free_slots_, .control = &control_};
  }
  Control& control() { return control_; }
  CpuSlot& cpu(size_t number) { return cpus_[number]; }
  // As a program takes one for a task; null: there is none.
  TaskSlot* take(int32_t tid, std::string_view name) {
    if (control_.taken == control_.freed) return nullptr;
    TaskSlot& slot = tasks_[free_slots_[control_.taken++ % free_slots_.size()]];
    slot = {.version = slot.version + 2};
    slot.tid = slot.pid = tid;
    slot.cpu = -1;
    std::memcpy(slot.name, name.data(), name.size());
    return &slot;
  }

 private:
  std::vector<TaskSlot> tasks_;
  std::vector<CpuSlot> cpus_;
  std::vector<uint64_t> free_slots_;
  Control control_ = {};
};

// It does something else from now on.
inline void change(TaskSlot& slot, Doing doing, uint64_t now) {
  slot.version += 2;
  slot.ns[slot.doing] += now - slot.since;
  slot.doing = doing;
  slot.since = now;
}

}  // namespace strata::live
