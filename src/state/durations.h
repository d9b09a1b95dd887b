// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace strata::state {

// How often something happened, and how long it took: the shortest, the longest, the sum, and a
// histogram in powers of two.
struct Durations {
  uint64_t count = 0;
  uint64_t sum_ns = 0;
  uint64_t shortest_ns = 0;
  uint64_t longest_ns = 0;
  // In the first those of 0 ns, in number n those from 2^(n-1) ns to below 2^n; in the last all
  // longer ones, too.
  std::array<uint64_t, 48> histogram = {};

  void add(int64_t duration) {
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(duration, 0));
    shortest_ns = count == 0 ? ns : std::min(shortest_ns, ns);
    longest_ns = std::max(longest_ns, ns);
    ++count;
    sum_ns += ns;
    ++histogram[std::min<size_t>(static_cast<size_t>(std::bit_width(ns)), histogram.size() - 1)];
  }
  uint64_t average_ns() const { return count == 0 ? 0 : sum_ns / count; }
};

}  // namespace strata::state
