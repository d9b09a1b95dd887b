// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

namespace strata::history {

// A *row* is something that is in one state at every moment from its first interval on: a CPU, say,
// or a task. Rows are numbered from 0.
using Row = uint32_t;

// What the states mean is their user's business; there are not many of them, so that times can be
// added up state by state.
using State = uint8_t;
inline constexpr unsigned kStateBits = 5;
inline constexpr State kStates = 1u << kStateBits;

// From `begin` on, up to but without `end`. What is neither a state nor a time goes into `info`:
// which system call it is, say.
struct Interval {
  int64_t begin = 0;  // ns
  int64_t end = 0;
  State state = 0;
  uint32_t info = 0;

  bool operator==(const Interval&) const = default;
};

// How long a row was in each state.
struct StateTimes {
  std::array<uint64_t, kStates> ns = {};

  uint64_t sum() const { return std::accumulate(ns.begin(), ns.end(), uint64_t{0}); }
  StateTimes& operator+=(const StateTimes& other) {
    for (size_t i = 0; i < ns.size(); ++i) ns[i] += other.ns[i];
    return *this;
  }
  bool operator==(const StateTimes&) const = default;
};

}  // namespace strata::history
