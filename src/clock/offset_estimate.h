// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "clock/meeting.h"
#include "trace/clock_map.h"

namespace strata::clock {

// The map from the counter there to the one here, from bursts in the order in which they were made
// (or from the fastest() messages of each): straight from one meeting to the next. No other
// straight line on which every message of the two bursts comes after it was sent is further away
// than the piece's bound, which so holds while neither clock changes its rate in between. Where the
// bursts before and after say that one did, or jumped, the bound is larger by as much. From the
// last burst on it is not known, and with one burst alone it is not known at all.
//
// `rate` is how many ticks pass here for one there, if it is known; for one burst it is all that
// can be better than what the burst tells. `ns_per_tick` is of the counter here.
Result<trace::ClockMap> map_through(std::span<const Burst> bursts, double ns_per_tick,
                                    std::optional<double> rate = std::nullopt);

}  // namespace strata::clock
