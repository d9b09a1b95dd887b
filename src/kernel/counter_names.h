// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strata::kernel {

// A performance counter by perf's name for it, and what perf_event_open wants to hear instead.
struct Counter {
  std::string name;  // "cache-misses", "L1-dcache-load-misses", "major-faults"
  uint32_t type = 0;
  uint64_t config = 0;

  bool operator==(const Counter&) const = default;
};

// Every name there is: hardware, software, caches.
std::vector<Counter> known_counters();
// By its name, or by another one that perf has for it ("faults" is page-faults); the result has the
// usual one, so that one thing has one name in every recording.
std::optional<Counter> known_counter(std::string_view name);

// Whether this machine and its kernel have it. Found out by trying: nothing lists it.
bool exists_here(const Counter& counter);

// Why perf refuses to count something, as what is said of it: "may not be counted by this user...".
std::string why_not_counted(int error);

// What to count where nobody has said it: of the processor; where that has none, of the kernel.
std::vector<Counter> usual_counters();

// Those of the given names, in their order, each once. A name that is unknown is an error that
// tells which there are here.
Result<std::vector<Counter>> known_counters(const std::vector<std::string>& names);
// The same; and so is the name of a counter that does not exist here.
Result<std::vector<Counter>> counters_by_name(const std::vector<std::string>& names);

}  // namespace strata::kernel
