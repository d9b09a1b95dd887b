// SPDX-License-Identifier: Apache-2.0
#include "kernel/state_clock.h"

#include <time.h>

#include "clock/tsc.h"

namespace strata::kernel {

uint64_t now(StateClock clock) {
  if (clock == StateClock::Tsc) return clock::read_tsc();
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace strata::kernel
