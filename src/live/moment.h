// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

namespace strata::live {

inline uint64_t now_on(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// The programs' clock; to read it is no system call.
inline uint64_t now() { return now_on(CLOCK_MONOTONIC); }

}  // namespace strata::live
