// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "clock/burst.h"
#include "trace/clock_map.h"

namespace strata::clock {

// From bursts of messages to the map between the counters of two machines, which may have different
// rates.
//
// Of each burst the fastest messages of short windows count: of the forward and of the backward
// ones each its own, so that they can be of different round trips. What a window says of the offset
// can be wrong by as much as its messages took longer than the fastest of all, and weighs
// accordingly in the line that is fitted through the windows.

// The fastest messages of each window of a burst, which is all that the rest needs: at most 64,
// however many it had.
Result<Burst> fastest(const Burst& burst);

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

// What one burst tells. Without `rate` it has to have two windows. An error where messages came
// before they were sent whatever the offset is: a counter jumped meanwhile.
Result<Meeting> meet(const Burst& burst, std::optional<double> rate = std::nullopt);

// The map from the counter there to the one here, from bursts in the order in which they were made:
// straight from one meeting to the next. A piece's bound is that of its ends, and holds while
// neither clock changes its rate in between; where the neighbours' rates say that one did, or
// jumped, the bound is larger by as much. From the last burst on it is not known.
//
// `rate` serves where there is but one burst. `ns_per_tick` is of the counter here.
Result<trace::ClockMap> map_through(std::span<const Burst> bursts, double ns_per_tick,
                                    std::optional<double> rate = std::nullopt);

}  // namespace strata::clock
