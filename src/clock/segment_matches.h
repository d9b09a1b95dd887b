// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "clock/causal_fit.h"
#include "trace/tcp_segment.h"
#include "trace/trace.h"

namespace strata::clock {

// TCP segments that have been met at one end and not yet at the other: a bounded number, of which
// the oldest is given up for a new one.
class WaitingSegments {
 public:
  explicit WaitingSegments(size_t most) : most_(most) {}

  // Of segments that are the same, sent again or only acknowledging, the first one waits.
  void add(const trace::TcpSegment& segment, int64_t time);
  // When it was met; it waits no more.
  std::optional<int64_t> take(const trace::TcpSegment& segment);
  size_t size() const { return times_.size(); }

 private:
  size_t most_;
  std::map<trace::TcpSegment, int64_t> times_;
  std::deque<trace::TcpSegment> order_;  // by when they came; some have been taken
};

struct Matched {
  CausalFit fit;
  std::vector<Error> problems;  // what could not be read of the traces
};

// Pairs that the segments make which `machine` and `reference` both saw, one at its sending and the
// other at its arrival. Each is one machine's traces. The traces are read once, side by side: by
// their times where both tell the time of day, otherwise from the beginning of each.
Matched match_segments(std::span<const std::unique_ptr<trace::Trace>> machine,
                       std::span<const std::unique_ptr<trace::Trace>> reference,
                       size_t most_waiting = size_t{1} << 20);

// Whether any event of these can tell a segment.
bool tells_segments(std::span<const std::unique_ptr<trace::Trace>> traces);

}  // namespace strata::clock
