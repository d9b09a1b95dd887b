// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/varint.h"
#include "history/interval.h"

namespace strata::history {

// How StateTimes lie in the file: a byte, how many states there are; for each the state, and its
// time as a varint.
inline void put_times(std::vector<uint8_t>& to, const StateTimes& times) {
  const size_t begin = to.size();
  to.resize(begin + 1 + kStates * (1 + kMaxVarint));
  uint8_t* at = to.data() + begin + 1;
  uint8_t states = 0;
  for (State state = 0; state < kStates; ++state) {
    if (times.ns[state] == 0) continue;
    ++states;
    *at++ = state;
    at = put_varint(at, times.ns[state]);
  }
  to[begin] = states;
  to.resize(static_cast<size_t>(at - to.data()));
}

// Those of the states that there are.
struct TimesList {
  uint32_t count = 0;
  uint64_t sum = 0;
  std::array<State, kStates> states;
  std::array<uint64_t, kStates> ns;

  void add_to(StateTimes& times) const {
    for (uint32_t i = 0; i < count; ++i) times.ns[states[i]] += ns[i];
  }
};

// Null: nothing of the kind is here.
inline const uint8_t* take_times(const uint8_t* at, const uint8_t* end, TimesList& times) {
  if (at == end || *at > kStates) return nullptr;
  times.count = *at++;
  times.sum = 0;
  for (uint32_t i = 0; i < times.count; ++i) {
    if (at == end || *at >= kStates) return nullptr;
    times.states[i] = *at++;
    at = take_varint(at, end, times.ns[i]);
    if (at == nullptr) return nullptr;
    times.sum += times.ns[i];
  }
  return at;
}

}  // namespace strata::history
