// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "format/ctf/event_plan.h"
#include "trace/clock_map.h"

namespace strata::ctf {

// The event headers that nearly all traces have, read without walking their description: LTTng's,
// byte-packed. `Compact`: 5 bits of id (31: extended) and 27 of time; `Large`: 16 bits of id
// (65535: extended) and 32 of time. Extended: 32 bits of id and 64 of time follow the id.
enum class HeaderForm : uint8_t { Compact, Large, General };

HeaderForm header_form(const FieldClass* header);

// How all streams of one class are read.
struct StreamPlan {
  const StreamClass* stream = nullptr;
  HeaderForm header = HeaderForm::General;
  bool swap = false;  // numbers of the header
  bool big = false;
  std::vector<trace::ClockMap> clock;  // a chain of maps; empty: readings are nanoseconds
  trace::ClockMap to_reference;        // the times of another trace, from those that `clock` gives
  bool has_clock = false;
  std::vector<std::unique_ptr<EventPlan>> events;
  std::vector<const EventPlan*> by_id;  // small ids
  std::unordered_map<uint64_t, const EventPlan*> by_large_id;
  uint16_t most_bases = 1;

  const EventPlan* find(uint64_t id) const {
    if (id < by_id.size()) [[likely]]
      return by_id[id];
    const auto it = by_large_id.find(id);
    return it == by_large_id.end() ? nullptr : it->second;
  }
};

// An event class that is beyond all reason is left out.
StreamPlan plan_stream(const Description& description, const StreamClass& stream);

}  // namespace strata::ctf
