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

// How long things took that have numbers: each CPU counts by itself, one's numbers side by side.
class TimeRows {
 public:
  // Since the last call; of the first, from the beginning on.
  void tell(std::span<const Times> times, uint32_t numbers, period::Latency what,
            const std::function<std::string(uint32_t)>& name,
            std::vector<period::LatencyRow>& rows);

 private:
  std::vector<period::Histogram> before_;  // by number
};

}  // namespace strata::live
