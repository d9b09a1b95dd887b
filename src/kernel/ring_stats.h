// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"

namespace strata::kernel {

// What a ring's file "stats" tells.
struct RingStats {
  uint64_t entries = 0;  // in the ring now
  uint64_t read = 0;     // taken out of it so far
  uint64_t overrun = 0;  // overwritten before anybody took them
  uint64_t dropped = 0;  // not written, the ring being full
  uint64_t commit_overrun = 0;
  uint64_t bytes = 0;  // in the ring now
  // When the oldest in the ring was, on the ring's clock: exact where that counts cycles, to the
  // microsecond where it counts nanoseconds. Of several rings together there is none.
  std::optional<Ticks> oldest = {};

  uint64_t events() const { return entries + read; }
  uint64_t lost() const { return overrun + dropped + commit_overrun; }
  RingStats& operator+=(const RingStats& other);
};

// Lines that are not known are passed over.
RingStats parse_ring_stats(std::string_view text);

}  // namespace strata::kernel
