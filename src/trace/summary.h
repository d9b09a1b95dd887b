// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace strata::trace {

struct StreamSummary {
  std::string buffer;
  CpuId cpu{};
  uint64_t events = 0;
  uint64_t lost = 0;                // events, where their number was told
  uint64_t lost_unknown = 0;        // places where events were lost and their number was not told
  std::optional<Trace::Span> span;  // the earliest and the latest event; nothing when empty
};

// What is in a trace: one pass over its streams, one after the other, since counting needs no
// order.
struct TraceSummary {
  uint64_t events = 0;
  uint64_t lost = 0;
  uint64_t lost_unknown = 0;
  std::optional<Trace::Span> span;
  std::vector<StreamSummary> streams;

  struct TypeCount {
    const EventType* type;
    uint64_t count;
  };
  std::vector<TypeCount> types;  // those that occurred, the most frequent first

  // What could not be read: when the trace opened, and then each stream's first.
  std::vector<Error> problems;
  uint64_t problem_count = 0;
};

// `progress` is called now and then with the bytes done of the bytes to do.
using ProgressCallback = std::function<void(uint64_t done, uint64_t total)>;
TraceSummary summarize(const Trace& trace, const ProgressCallback& progress = {});

}  // namespace strata::trace
