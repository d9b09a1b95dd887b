// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "clock/line.h"

namespace strata::clock {

// The points of a list that a line below all of them can touch. Each new one takes its place, or
// the place of some, or none: of thousands of points only a few stay.
class LowerHull {
 public:
  void add(Point point);
  // Whether it would be a corner now.
  bool takes(Point point) const;
  std::span<const Point> corners() const { return corners_; }

 private:
  // Points can be such that all of them are corners. Then every second one is given up, which makes
  // the hull lie lower, never higher.
  static constexpr size_t kMostCorners = 2048;

  std::vector<Point> corners_;  // by x
};

// Where a line can be that leads from one clock's readings (x) to another's (y), as messages
// between the two tell: one that was sent at x and received at y lies above the line or on it; one
// that was sent at y and received at x, below. The corridor is between the two hulls.
//
// M. Jabbarifar, M. Dagenais, A. Shameli-Sendi: "Streaming mode incremental clock synchronization";
// A. Duda et al.: "Estimating global time in distributed systems".
class Corridor {
 public:
  // The line is nowhere above this. False: it is too far from zero, and not taken.
  bool add_above(Point point);
  bool add_below(Point point);
  // Whether adding it would change anything.
  bool narrows_above(Point point) const;
  bool narrows_below(Point point) const;

  // The lines with the greatest and the smallest slope that fit. Nothing: the points do not bound
  // the slope on that side.
  std::optional<Line> steepest() const;
  std::optional<Line> flattest() const;
  // Whether any line fits.
  bool is_open() const;

  // In the middle between the steepest and the flattest. Nothing where one of them is missing, or
  // no line fits.
  std::optional<Line> middle() const;

  // How far above and below `line` other lines that fit are at `x`: `above` is below zero where
  // `line` does not fit itself. Infinite where nothing bounds them. Only where the corridor is
  // open.
  struct Margins {
    long double below;
    long double above;
  };
  Margins margins(const Line& line, int64_t x) const;

  std::span<const Point> above() const { return above_.corners(); }
  // With their y negated.
  std::span<const Point> below_negated() const { return below_.corners(); }

 private:
  LowerHull above_;
  LowerHull below_;  // upside down: y negated
};

}  // namespace strata::clock
