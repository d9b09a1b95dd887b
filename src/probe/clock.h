// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <cstdint>

#include "probe/abi.h"

namespace strata::probe {

inline uint64_t nanoseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

inline uint64_t read_clock(abi::Clock clock) {
#if defined(__x86_64__)
  if (clock == abi::Clock::Tsc) return __builtin_ia32_rdtsc();
  if (clock == abi::Clock::TscOrdered) {
    unsigned cpu;
    return __builtin_ia32_rdtscp(&cpu);
  }
#endif
  return nanoseconds(CLOCK_MONOTONIC_RAW);
}

// The same, but not before what precedes it has happened: after a lock was taken, say, which
// another CPU had held.
inline uint64_t read_clock_ordered(abi::Clock clock) {
  return read_clock(clock == abi::Clock::Tsc ? abi::Clock::TscOrdered : clock);
}

}  // namespace strata::probe
