// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace strata::clock
