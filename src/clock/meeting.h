// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "clock/burst.h"

namespace strata::clock {

// What one burst of messages tells of the counters of two machines, which may have different rates.
//
// The burst is cut into windows of a few messages that follow each other, and the fastest of each
// window counts, forth and back each its own. Halfway between the two is what the window takes for
// the offset: right where both were as fast, and wrong where somebody was awake one way and had to
// be woken up the other. The wrong ones are wrong by this and that, the right ones agree: the
// densest half of the windows is believed, those with a shorter way to and fro counting for more.
//
// How far that can be off does not depend on any of this: no message comes before it was sent.

// An instant by both counters.
struct Meeting {
  uint64_t there = 0;
  int64_t here = 0;
  // `here` is right for `there` to this, in ticks here, whatever the clocks' rates are and however
  // different the two ways: no line on which every message came after it was sent is further away.
  uint64_t bound = 0;
  uint64_t half_round_trip = 0;  // the fastest message forth and the fastest back, in ticks here
  double rate = 1;               // ticks here for one there, as the burst alone tells or as given
};

// Without `rate`, the burst has to tell it. One that the burst contradicts is not used. An error
// where messages came before they were sent whatever the offset is: a counter was set meanwhile.
Result<Meeting> meet(const Burst& burst, std::optional<double> rate = std::nullopt);

// The fastest messages of each window, which is all that meet() needs: at most 64 each way, however
// many the burst had.
Result<Burst> fastest(const Burst& burst);

}  // namespace strata::clock
