// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace strata::clock {

// What the clocks of this machine showed at one moment.
struct Anchor {
  uint64_t tsc = 0;  // 0 where there is none
  int64_t monotonic_ns = 0;
  int64_t monotonic_raw_ns = 0;
  int64_t boottime_ns = 0;
  int64_t wall_ns = 0;          // since the epoch
  uint64_t uncertainty_ns = 0;  // each is right for `tsc` to this, or better

  bool operator==(const Anchor&) const = default;
};

// Now. Each clock is read with the counter on both sides of it, several times over; the time in
// which the widest of these windows was the narrowest is kept, so an interrupt or a preemption
// falls out. It takes some 5 us.
Anchor take_anchor();

}  // namespace strata::clock
