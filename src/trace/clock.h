// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strata::trace {

// What a tracer's clock is, and so what its readings may be used for.
struct Clock {
  std::string name = "local";  // as the tracer calls it: "local", "x86-tsc", "monotonic"

  bool is_time = true;      // false: it orders events and tells nothing of time ("counter")
  bool across_cpus = true;  // false: readings of two CPUs may be off against each other ("local")
  bool in_nanoseconds = true;  // false: cycles or counts, time only through a map
  uint64_t resolution_ns = 1;  // "uptime" moves once a jiffy

  bool operator==(const Clock&) const = default;
};

// The kernel tracer's clocks by the names of its trace_clock file. An unknown name is taken for
// nanoseconds that are comparable across CPUs, as every clock added so far was.
Clock kernel_clock(std::string_view name);

// The name in brackets of a trace_clock file: "local [global] counter" gives "global".
std::string_view selected_clock(std::string_view trace_clock_text);

}  // namespace strata::trace
