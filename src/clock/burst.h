// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "clock/corridor.h"

namespace strata::clock {

// A message between two machines, by the counter of the one that sent it and by that of the one
// that received it. No message comes before it was sent: that is all that is believed of it.
struct Crossing {
  uint64_t sent = 0;
  uint64_t received = 0;

  bool operator==(const Crossing&) const = default;
};

// Messages between this machine and another, within a moment, each list in its order.
struct Burst {
  std::vector<Crossing> forth;  // sent here, received there
  std::vector<Crossing> back;   // sent there, received here
};

// An instant, more or less, by both counters: what readings are counted from, so that they are
// small. As points x is the counter there, y the one here.
struct Origin {
  uint64_t there = 0;
  uint64_t here = 0;

  Point point_of_forth(const Crossing& crossing) const {
    return {static_cast<int64_t>(crossing.received - there),
            static_cast<int64_t>(crossing.sent - here)};
  }
  Point point_of_back(const Crossing& crossing) const {
    return {static_cast<int64_t>(crossing.sent - there),
            static_cast<int64_t>(crossing.received - here)};
  }
};

// Narrows the corridor by what the messages tell. False: readings are out of all reach, since a
// counter leapt.
bool add_burst(const Burst& burst, const Origin& origin, Corridor& corridor);

}  // namespace strata::clock
