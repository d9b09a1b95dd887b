// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "live/bpf/layout.h"
#include "period/table.h"

namespace strata::live {

// How long things took that have numbers. Each CPU counts by itself: its numbers lie side by side,
// and CPUs one behind the other.
class TimeRows {
 public:
  struct Numbers {
    uint32_t begin = 0;
    uint32_t end = 1;
    uint32_t stride = 1;  // all numbers of a CPU, these and others
  };

  // What there is already does not count.
  void begin(std::span<const Times> times, Numbers numbers);
  // Since the last call, or the beginning.
  void tell(std::span<const Times> times, Numbers numbers, period::Latency what,
            const std::function<std::string(uint32_t)>& name,
            std::vector<period::LatencyRow>& rows);

 private:
  std::vector<period::Histogram> before_;  // by number, from the first on
};

}  // namespace strata::live
