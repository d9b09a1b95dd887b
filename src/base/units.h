// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace strata {

// A point in time or a duration in nanoseconds. Which point is zero is the trace's time base.
struct Nanoseconds {
  int64_t count = 0;
  constexpr auto operator<=>(const Nanoseconds&) const = default;
};

// A reading of a clock in that clock's own unit, before any map was applied: nanoseconds, cycles of
// the TSC, jiffies, or a bare count.
enum class Ticks : uint64_t {};

enum class CpuId : uint32_t {};
enum class Tid : int32_t {};  // a thread; 0 is the idle task of whatever CPU
constexpr Tid kNoTid{-1};     // nobody knows which

// For products of times, which 64 bits do not hold.
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// What would not fit stays at the end of the range.
constexpr int64_t saturated(Int128 value) {
  constexpr Int128 most = std::numeric_limits<int64_t>::max();
  constexpr Int128 least = std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value > most ? most : value < least ? least : value);
}

template <typename E>
constexpr auto raw(E strong) {
  return static_cast<__underlying_type(E)>(strong);
}

}  // namespace strata
