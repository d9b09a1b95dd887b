// SPDX-License-Identifier: Apache-2.0
#include "clock/line.h"

#include <algorithm>
#include <cmath>

namespace strata::clock {

Line Line::inverse() const {
  const long double slope = 1 + steeper;
  return {{at.y, at.x}, -above / slope, -steeper / slope};
}

trace::ClockPiece piece_along(const Line& line, uint64_t origin_t, int64_t origin_u) {
  // As many bits behind the point as leave mult below 2^63; a clock goes forward.
  constexpr long double kMost = 0x1p62L;
  const long double slope = std::clamp(1 + line.steeper, 0x1p-62L, kMost);
  uint8_t shift = 62;
  while (shift > 0 && std::ldexp(slope, shift) >= kMost) --shift;
  return {.t0 = origin_t + static_cast<uint64_t>(line.at.x),
          .u0 = saturated(Int128{origin_u} + line.at.y +
                          std::llround(std::clamp(line.above, -kMost, kMost))),
          .mult = static_cast<uint64_t>(std::llround(std::ldexp(slope, shift))),
          .shift = shift,
          .rounding = shift > 0 ? uint64_t{1} << (shift - 1) : 0};
}

}  // namespace strata::clock
