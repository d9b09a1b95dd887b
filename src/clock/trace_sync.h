// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "clock/causal_fit.h"
#include "trace/trace.h"

namespace strata::clock {

// How the times of one machine's traces lead to those of another's, as their events tell.
struct TraceSync {
  enum class By : uint8_t { TcpSegments, GuestWindows };
  By by = By::TcpSegments;
  uint64_t matches = 0;  // pairs of events that belong together
  std::vector<Stretch> stretches;
};

// Of a host and its guest, by when the guest ran; of other machines, by the TCP segments that both
// saw. What could not be read of the traces goes to `problems`. An error says why there is no map.
Result<TraceSync> sync_traces(std::span<const std::unique_ptr<trace::Trace>> machine,
                              std::span<const std::unique_ptr<trace::Trace>> reference,
                              std::vector<Error>& problems);

}  // namespace strata::clock
