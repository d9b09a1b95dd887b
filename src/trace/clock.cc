// SPDX-License-Identifier: Apache-2.0
#include "trace/clock.h"

#include <algorithm>
#include <array>

namespace strata::trace {
namespace {

struct Known {
  std::string_view name;
  bool is_time;
  bool across_cpus;
  bool in_nanoseconds;
  uint64_t resolution_ns;
};

// Jiffies are 1 to 10 ms, as the kernel was built; 10 ms is the safe reading.
constexpr std::array kKnown = {
    Known{"local", true, false, true, 1},    Known{"global", true, true, true, 1},
    Known{"counter", false, true, false, 1}, Known{"uptime", true, true, true, 10'000'000},
    Known{"perf", true, false, true, 1},     Known{"mono", true, true, true, 1},
    Known{"mono_raw", true, true, true, 1},  Known{"boot", true, true, true, 1},
    Known{"tai", true, true, true, 1},       Known{"x86-tsc", true, true, false, 1},
    Known{"ppc-tb", true, true, false, 1},
};

}  // namespace

Clock kernel_clock(std::string_view name) {
  Clock clock;
  clock.name = name;
  const auto it = std::ranges::find(kKnown, name, &Known::name);
  if (it != kKnown.end()) {
    clock.is_time = it->is_time;
    clock.across_cpus = it->across_cpus;
    clock.in_nanoseconds = it->in_nanoseconds;
    clock.resolution_ns = it->resolution_ns;
  }
  return clock;
}

std::string_view selected_clock(std::string_view text) {
  const size_t open = text.find('[');
  if (open == std::string_view::npos) return {};
  const size_t close = text.find(']', open);
  if (close == std::string_view::npos) return {};
  return text.substr(open + 1, close - open - 1);
}

}  // namespace strata::trace
