// SPDX-License-Identifier: Apache-2.0
#include "period/feed.h"

#include <array>

namespace strata::period {

std::string_view name_of(Group group) {
  constexpr std::array<std::string_view, static_cast<size_t>(Group::Count_)> kNames = {
      "cpu", "calls", "io", "vm", "perf", "latency"};
  return kNames[static_cast<size_t>(group)];
}

}  // namespace strata::period
