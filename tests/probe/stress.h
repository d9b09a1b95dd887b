// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <strata/probe.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <new>
#include <ostream>
#include <string>

#include "collector.h"

STRATA_EVENT(stress, step, STRATA_INFO, (u32, thread), (u64, number));
STRATA_EVENT(stress, handler, STRATA_INFO, (u64, number));

namespace strata::test {

// What a traced child tells of itself however it ends: memory that it shares with the test.
struct Told {
  static constexpr uint32_t kThreads = 4;
  std::atomic<uint64_t> completed[kThreads] = {};  // calls that have returned, for each thread
  std::atomic<uint64_t> handled = 0;               // those of a signal handler
  std::atomic<int> stage = 0;                      // how far the child, or the test, has come

  uint64_t all_completed() const {
    uint64_t sum = handled;
    for (const auto& count : completed) sum += count;
    return sum;
  }
};

class SharedTold {
 public:
  SharedTold()
      : told_(new (mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0)) Told) {}
  ~SharedTold() { munmap(told_, sizeof(Told)); }
  SharedTold(const SharedTold&) = delete;
  SharedTold& operator=(const SharedTold&) = delete;
  Told* operator->() const { return told_; }

 private:
  Told* told_;
};

// Says that `stage` is reached and waits for the one after it: the other side does something then.
inline void hand_over(const SharedTold& told, int stage) {
  told->stage = stage;
  while (told->stage == stage) usleep(100);
}
// The other side: does it.
template <typename Action>
void when_handed_over(const SharedTold& told, int stage, Action action) {
  while (told->stage != stage) usleep(100);
  action();
  told->stage = stage + 1;
}

inline void switch_on() {
  strata_flag_stress__step = 0x10000;
  strata_flag_stress__handler = 0x10000;
}

// Fires and tells, `count` times or until it is killed.
inline void fire(const SharedTold& told, uint32_t thread, uint64_t count = UINT64_MAX) {
  for (uint64_t number = 0; number < count; ++number) {
    STRATA_TRACE(stress, step, thread, number);
    told->completed[thread].store(number + 1, std::memory_order_relaxed);
  }
}

inline constexpr probe::abi::Policy kPolicies[] = {
    probe::abi::Policy::Discard, probe::abi::Policy::Overwrite, probe::abi::Policy::Block};
static_assert(std::size(kPolicies) == probe::abi::kPolicies);

// The ways a ring is used.
struct Way {
  probe::abi::Policy policy;
  bool per_cpu;  // else all by the fallback
  const char* name;
};
inline constexpr Way kWays[] = {
    {probe::abi::Policy::Discard, true, "DiscardPerCpu"},
    {probe::abi::Policy::Discard, false, "DiscardFallback"},
    {probe::abi::Policy::Overwrite, true, "OverwritePerCpu"},
    {probe::abi::Policy::Overwrite, false, "OverwriteFallback"},
    {probe::abi::Policy::Block, true, "BlockPerCpu"},
    {probe::abi::Policy::Block, false, "BlockFallback"},
};
inline void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
inline std::string way_name(const testing::TestParamInfo<Way>& info) { return info.param.name; }

}  // namespace strata::test
