// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

#include "live/bpf/layout.h"

namespace strata::live {

// The memory that the programs in the kernel count in, wherever it lies.
struct Memory {
  std::span<TaskSlot> tasks;
  std::span<CpuSlot> cpus;
  std::span<uint64_t> free_slots;
  Control* control = nullptr;
};

// A word that others write.
template <typename Word>
Word load(const Word& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

// A copy of a slot that somebody may be changing: all of it as it was at one moment. A change takes
// some hundred nanoseconds, unless the writer's (virtual) CPU is taken away in the midst of it; so
// after many tries the copy is taken as it is.
template <typename Slot>
Slot copy_of(const Slot& slot) {
  constexpr int kTries = 1000;
  Slot copy;
  for (int i = 0; i < kTries; ++i) {
    const uint32_t before = load(slot.version);
    std::memcpy(&copy, &slot, sizeof copy);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && load(slot.version) == before) break;
  }
  return copy;
}

}  // namespace strata::live
