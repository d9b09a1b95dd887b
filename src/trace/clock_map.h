// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace strata::trace {

constexpr uint64_t kNoBound = std::numeric_limits<uint64_t>::max();

// From readings t of one clock to readings u of another, from t0 on until the next piece begins:
//
//     u = u0 + ((t - t0) x mult + rounding) >> shift
//
// in 128-bit arithmetic: no product can overflow, and no precision is lost far from t0. What would
// leave the range of u stays at its end.
struct ClockPiece {
  uint64_t t0 = 0;
  int64_t u0 = 0;
  uint64_t mult = 1;             // below 2^63
  uint8_t shift = 0;             // at most 63
  uint64_t rounding = 0;         // 2^(shift-1) rounds to the nearest, 0 down
  bool gap = false;              // nothing is known here; the line only goes on
  uint64_t bound_ns = kNoBound;  // how far off u may be, where that is known

  bool operator==(const ClockPiece&) const = default;

  int64_t at(uint64_t t) const {
    const Int128 product = (Int128{t} - Int128{t0}) * Int128{mult} + Int128{rounding};
    const Int128 u = Int128{u0} + (product >> shift);
    return saturated(u);
  }
  // The same for a reading below zero, which there may be between two maps of a chain.
  int64_t at_negative(int64_t t) const;
};

// How one named clock's readings become another's, within one segment (between two reboots or
// restored states; afterwards readings repeat). Piecewise linear: the first piece also serves what
// lies before it.
class ClockMap {
 public:
  std::string from;
  std::string to;
  uint32_t segment = 0;

  // The identity.
  ClockMap() : pieces_(1) {}
  // Sorted by t0 here; of two pieces that begin together the later one counts.
  explicit ClockMap(std::vector<ClockPiece> pieces);

  const std::vector<ClockPiece>& pieces() const { return pieces_; }
  // The piece that serves t, and the reading from which on another one does (nothing: never).
  struct Span {
    const ClockPiece* piece;
    uint64_t from;
    std::optional<uint64_t> until;
  };
  Span span_at(uint64_t t) const;

  int64_t at(uint64_t t) const { return span_at(t).piece->at(t); }

  bool is_identity() const;

 private:
  std::vector<ClockPiece> pieces_;  // never empty
};

// A slope as mult and shift, as precise as 63 bits are. `numerator`/`denominator` is positive.
struct Slope {
  uint64_t mult;
  uint8_t shift;
};
Slope slope(uint64_t numerator, uint64_t denominator);

// A stream's way along a chain of maps (guest counter to host counter to nanoseconds): remembers
// the piece it is in, so that an event costs a comparison and a multiplication.
class ClockReader {
 public:
  // No maps: readings are nanoseconds already.
  explicit ClockReader(std::vector<ClockMap> chain = {});

  Nanoseconds at(Ticks ticks) {
    const int64_t value = first_.at(raw(ticks));
    return Nanoseconds{is_chain_ ? through_rest(value) : value};
  }

 private:
  struct Step {
    // The piece that served last, from its t0 on for as long as it serves and u needs no check.
    uint64_t t0 = 0;
    uint64_t reach = 0;  // t - t0 is below this; 0: nothing has been asked for yet
    uint64_t u0 = 0;
    uint64_t mult = 1;
    uint64_t rounding = 0;
    uint8_t shift = 0;
    ClockMap map;

    int64_t at(uint64_t t) {
      const uint64_t distance = t - t0;  // before t0: beyond every reach
      if (distance >= reach) [[unlikely]]
        return move_to(t);
      const UInt128 product = UInt128{distance} * mult + rounding;
      return static_cast<int64_t>(u0 + static_cast<uint64_t>(product >> (shift & 63)));
    }
    // Finds the piece that serves t; gives what at(t) is.
    [[gnu::noinline]] int64_t move_to(uint64_t t);
  };
  int64_t through_rest(int64_t value);

  Step first_;
  bool is_chain_ = false;  // there is a rest
  std::vector<Step> rest_;
};

}  // namespace strata::trace
