// SPDX-License-Identifier: Apache-2.0
#include "clock/corridor.h"

#include <algorithm>
#include <limits>

namespace strata::clock {
namespace {

Point flipped(Point point) { return {point.x, -point.y}; }

// A line from one point to another right of it, as it is: nothing is rounded.
struct Chord {
  Point from;
  Point to;

  Int128 rise() const { return Int128{to.y} - from.y; }
  Int128 run() const { return Int128{to.x} - from.x; }
  // Each factor has at most 62 bits.
  bool is_flatter_than(const Chord& other) const {
    return rise() * other.run() < other.rise() * run();
  }
  Line line() const {
    const Int128 steeper = rise() - run();
    return {from, 0, static_cast<long double>(steeper) / static_cast<long double>(run())};
  }
};

Chord flipped(const Chord& chord) { return {flipped(chord.from), flipped(chord.to)}; }

// Of a lower hull: whether `middle` lies on the chord of the others, or above.
bool is_needless(Point left, Point middle, Point right) {
  return !Chord{left, middle}.is_flatter_than(Chord{left, right});
}

// The flattest chord from a point of the upside-down hull to one of the other hull, right of it:
// nothing steeper leads between the two.
std::optional<Chord> flattest_chord(std::span<const Point> upside_down,
                                    std::span<const Point> hull) {
  std::optional<Chord> best;
  for (const Point& corner : upside_down) {
    const auto right = std::ranges::upper_bound(hull, corner.x, {}, &Point::x);
    for (auto to = right; to != hull.end(); ++to) {
      const Chord chord{flipped(corner), *to};
      if (!best || chord.is_flatter_than(*best)) best = chord;
    }
  }
  return best;
}

std::optional<Line> line_of(const std::optional<Chord>& chord) {
  if (!chord) return std::nullopt;
  return chord->line();
}

// How far the one is above the other at x.
long double apart(const Line& one, const Line& other, int64_t x) {
  return static_cast<long double>(Int128{one.at.y} - other.at.y) + (one.rise(x) - other.rise(x));
}

// The line that is the limit at x, of those that touch a hull and are neither steeper nor flatter
// than the two: along the edge there, where there is one and it fits. Nothing: there is no limit.
std::optional<Line> limit(std::span<const Point> corners, bool upside_down, int64_t x,
                          const std::optional<Line>& flattest,
                          const std::optional<Line>& steepest) {
  const auto right = std::ranges::upper_bound(corners, x, {}, &Point::x);
  if (right == corners.begin()) return upside_down ? steepest : flattest;
  if (right == corners.end()) return upside_down ? flattest : steepest;
  const Chord edge{*(right - 1), *right};
  const Line line = (upside_down ? flipped(edge) : edge).line();
  if (steepest && line.steeper > steepest->steeper) return steepest;
  if (flattest && line.steeper < flattest->steeper) return flattest;
  return line;
}

}  // namespace

bool LowerHull::takes(Point point) const {
  const auto here = std::ranges::lower_bound(corners_, point.x, {}, &Point::x);
  if (here == corners_.end() || here == corners_.begin())
    return here == corners_.end() || here->x != point.x || here->y > point.y;
  if (here->x == point.x) return here->y > point.y;
  return !is_needless(*(here - 1), point, *here);
}

void LowerHull::add(Point point) {
  if (!takes(point)) return;
  auto here = std::ranges::lower_bound(corners_, point.x, {}, &Point::x);
  if (here != corners_.end() && here->x == point.x) here = corners_.erase(here);
  here = corners_.insert(here, point);
  while (here - corners_.begin() >= 2 && is_needless(*(here - 2), *(here - 1), point))
    here = corners_.erase(here - 1);
  while (corners_.end() - here >= 3 && is_needless(point, *(here + 1), *(here + 2)))
    corners_.erase(here + 1);
  if (corners_.size() <= kMostCorners) return;
  size_t kept = 0;
  for (size_t i = 0; i < corners_.size(); i += 2) corners_[kept++] = corners_[i];
  corners_.resize(kept);
}

bool Corridor::add_above(Point point) {
  if (!is_near(point)) return false;
  above_.add(point);
  return true;
}

bool Corridor::add_below(Point point) {
  if (!is_near(point)) return false;
  below_.add(flipped(point));
  return true;
}

bool Corridor::narrows_above(Point point) const { return is_near(point) && above_.takes(point); }
bool Corridor::narrows_below(Point point) const {
  return is_near(point) && below_.takes(flipped(point));
}

std::optional<Line> Corridor::steepest() const {
  return line_of(flattest_chord(below_.corners(), above_.corners()));
}

std::optional<Line> Corridor::flattest() const {
  const std::optional<Chord> chord = flattest_chord(above_.corners(), below_.corners());
  if (!chord) return std::nullopt;
  return flipped(*chord).line();
}

bool Corridor::is_open() const {
  // A line fits where its slope may be something, and no point forbids all slopes by itself.
  for (const Point& corner : above_.corners()) {
    const auto same = std::ranges::lower_bound(below_.corners(), corner.x, {}, &Point::x);
    if (same != below_.corners().end() && same->x == corner.x && -same->y > corner.y) return false;
  }
  const std::optional<Chord> most = flattest_chord(below_.corners(), above_.corners());
  const std::optional<Chord> least = flattest_chord(above_.corners(), below_.corners());
  return !most || !least || !most->is_flatter_than(flipped(*least));
}

std::optional<Line> Corridor::middle() const {
  const std::optional<Line> most = steepest();
  const std::optional<Line> least = flattest();
  if (!most || !least || !is_open()) return std::nullopt;
  const long double apart_here = apart(*least, *most, most->at.x);
  return Line{most->at, apart_here / 2, (most->steeper + least->steeper) / 2};
}

Corridor::Margins Corridor::margins(const Line& line, int64_t x) const {
  const std::optional<Line> most = steepest();
  const std::optional<Line> least = flattest();
  const std::optional<Line> top = limit(above_.corners(), false, x, least, most);
  const std::optional<Line> bottom = limit(below_.corners(), true, x, least, most);
  constexpr long double kNone = std::numeric_limits<long double>::infinity();
  return {bottom ? apart(line, *bottom, x) : kNone, top ? apart(*top, line, x) : kNone};
}

}  // namespace strata::clock
