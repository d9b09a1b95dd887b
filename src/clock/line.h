// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trace/clock_map.h"

namespace strata::clock {

// Readings of two clocks, counted from somewhere near them.
struct Point {
  int64_t x = 0;
  int64_t y = 0;

  bool operator==(const Point&) const = default;
};

// Coordinates reach this far from zero, both ways, so that products of their differences fit into
// 128 bits. 2^61 ns are 73 years.
constexpr int64_t kFarthest = int64_t{1} << 61;
constexpr bool is_near(int64_t coordinate) {
  return coordinate <= kFarthest && coordinate >= -kFarthest;
}
constexpr bool is_near(Point point) { return is_near(point.x) && is_near(point.y); }

// A straight line: y = at.y + above + (x - at.x) x (1 + steeper). Clocks of one kind have slopes
// near 1, of which so no digit is lost.
struct Line {
  Point at;
  long double above = 0;
  long double steeper = 0;

  // y - at.y, which keeps the digits that y has no room for.
  long double rise(int64_t x) const {
    const auto run = static_cast<long double>(x - at.x);
    return above + run + run * steeper;
  }
  // The same line as x of y.
  Line inverse() const;
};

// The line as a piece of a map: `origin_t` and `origin_u` are the readings that its coordinates
// count from. It begins at line.at.
trace::ClockPiece piece_along(const Line& line, uint64_t origin_t, int64_t origin_u);

}  // namespace strata::clock
