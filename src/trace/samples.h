// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event_type.h"
#include "trace/trace.h"

namespace strata::trace {

// What is sampled beside a kernel's events, in traces of its own, and told by no meaning of an
// event (vocabulary.h): numbers that have grown so far.

// The property of a trace that names the fields of its events that are performance counters.
inline constexpr std::string_view kCountersProperty = "counters";

// What a CPU's performance counters had counted, read in the thread that ran (EventType::tid).
struct CounterReading {
  FieldRef next_tid;  // who runs from then on; reads nothing: that thread still
  struct Counter {
    std::string name;  // "context-switches"
    FieldRef count;
  };
  std::vector<Counter> counters;
};

// How a cgroup had been throttled, since it was made: see kernel/cgroup_throttling.h.
struct ThrottlingSample {
  FieldRef cgroup;
  FieldRef periods;
  FieldRef throttled;
  FieldRef throttled_ns;
};

// Nothing: events of this type are something else.
std::optional<CounterReading> counter_reading(const TraceInfo& trace, const EventType& type);
std::optional<ThrottlingSample> throttling_sample(const EventType& type);

}  // namespace strata::trace
