// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "format/tracedat/writer.h"
#include "recording/description.h"

namespace strata::record {

// The clock that stamps a recording's events, and how it leads to the time of day.
struct HostClock {
  std::string kernel_name;  // as trace_clock calls it: "x86-tsc", "mono_raw"
  std::string name;         // in recording.json: "host.tsc"
  uint64_t frequency = 1'000'000'000;
  std::string note;     // why this one
  trace::ClockMap map;  // from it to "epoch"
  // trace.dat's way of saying the same: ns = (t x mult) >> shift, plus an offset.
  uint32_t mult = 1;
  uint32_t shift = 0;
  int64_t offset_ns = 0;

  // What a trace.dat with events on this clock says of it.
  std::vector<tracedat::NewOption> options() const;
};

// Decides for a clock, and measures it; `wanted` is a name of trace_clock, or empty.
Result<HostClock> choose_clock(const std::string& wanted);
// Measures it again, over all the time since it was chosen.
void refine(HostClock& clock);

}  // namespace strata::record
