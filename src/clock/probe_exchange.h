// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "base/result.h"
#include "clock/burst.h"
#include "clock/probe_link.h"

namespace strata::clock {

// A burst: messages go to and fro as fast as they can, each the answer to the one before. Both ends
// are then in the same position, so that neither way is the slower one by the exchange itself.

struct BurstLimits {
  uint32_t messages = 2048;  // both ways together
  // For which who asks goes on, at most: what comes then is one more answer.
  std::chrono::nanoseconds time = std::chrono::milliseconds(190);
  // How much longer the burst may take, the wait for its beginning included, until the other end is
  // given up. That is an error, and what comes of this burst later is passed over by the next one.
  std::chrono::nanoseconds patience = std::chrono::seconds(2);
};

// The counter that stamps what is recorded here, such as read_tsc().
using ReadCounter = std::function<uint64_t()>;

// The side that begins and ends a burst. `number` is one that the link has not had yet.
Result<Burst> ask(ProbeLink& link, uint64_t number, const ReadCounter& counter,
                  const BurstLimits& limits = {});
// The other side, until the burst ends. It learns the same of the clocks.
Result<Burst> answer(ProbeLink& link, uint64_t number, const ReadCounter& counter,
                     const BurstLimits& limits = {});

}  // namespace strata::clock
