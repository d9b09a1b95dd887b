// SPDX-License-Identifier: Apache-2.0
#include "clock/offset_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "clock/corridor.h"

namespace strata::clock {
namespace {

constexpr size_t kWindows = 32;
constexpr long double kInfinite = std::numeric_limits<long double>::infinity();

int64_t rounded(long double value) { return std::llround(std::clamp(value, -0x1p62L, 0x1p62L)); }

Error failed(const char* why) { return {"", std::nullopt, why}; }

// A burst as points: x is the counter there, y the one here, both counted from its first message.
struct Points {
  uint64_t there = 0;
  uint64_t here = 0;
  std::vector<Point> below;  // forth
  std::vector<Point> above;  // back

  explicit Points(const Burst& burst) {
    if (burst.forth.empty() || burst.back.empty()) return;
    there = burst.back.front().sent;
    here = burst.back.front().received;
    for (const Crossing& crossing : burst.forth)
      below.push_back(point(crossing.received, crossing.sent));
    for (const Crossing& crossing : burst.back)
      above.push_back(point(crossing.sent, crossing.received));
  }
  Point point(uint64_t x, uint64_t y) const {
    return {static_cast<int64_t>(x - there), static_cast<int64_t>(y - here)};
  }
  // What is added to it is far from no other: false where a counter leapt.
  bool add_to(Corridor& corridor) const {
    const auto add_below = [&](Point at) { return corridor.add_below(at); };
    const auto add_above = [&](Point at) { return corridor.add_above(at); };
    return std::ranges::all_of(below, add_below) && std::ranges::all_of(above, add_above);
  }
};

// Of one window, by their places in the burst; the offsets are y - rate x x.
struct Fastest {
  size_t below = SIZE_MAX;
  size_t above = SIZE_MAX;
  long double highest = -kInfinite;
  long double lowest = kInfinite;

  bool is_whole() const { return below != SIZE_MAX && above != SIZE_MAX; }
  long double half() const { return (lowest - highest) / 2; }
};
using Windows = std::array<Fastest, kWindows>;

Windows windows_along(const Points& points, long double rate) {
  int64_t first = INT64_MAX;
  int64_t last = INT64_MIN;
  for (const auto* list : {&points.below, &points.above}) {
    for (const Point& point : *list) {
      first = std::min(first, point.y);
      last = std::max(last, point.y);
    }
  }
  const long double width = (static_cast<long double>(last) - first) / kWindows;
  Windows windows;
  const auto window = [&](const Point& point) -> Fastest& {
    const long double number = width > 0 ? (static_cast<long double>(point.y) - first) / width : 0;
    return windows[std::min(static_cast<size_t>(number), kWindows - 1)];
  };
  const auto offset = [&](const Point& point) {
    return static_cast<long double>(point.y) - rate * static_cast<long double>(point.x);
  };
  for (size_t i = 0; i < points.below.size(); ++i) {
    Fastest& its = window(points.below[i]);
    if (offset(points.below[i]) <= its.highest) continue;
    its.highest = offset(points.below[i]);
    its.below = i;
  }
  for (size_t i = 0; i < points.above.size(); ++i) {
    Fastest& its = window(points.above[i]);
    if (offset(points.above[i]) >= its.lowest) continue;
    its.lowest = offset(points.above[i]);
    its.above = i;
  }
  return windows;
}

// The line that is fitted through the windows.
struct Fit {
  long double x = 0;  // their middle, where the offset is known best
  long double offset = 0;
  long double steeper = 0;  // than the rate that the windows were taken along
  long double half = 0;     // of the fastest of all
};

std::optional<Fit> fit(const Points& points, const Windows& windows) {
  Fit fitted{.half = kInfinite};
  for (const Fastest& window : windows)
    if (window.is_whole()) fitted.half = std::min(fitted.half, window.half());
  if (fitted.half == kInfinite) return std::nullopt;

  struct Middle {
    long double x, offset, weight;
  };
  std::vector<Middle> middles;
  long double weights = 0;
  for (const Fastest& window : windows) {
    if (!window.is_whole()) continue;
    const long double x = (static_cast<long double>(points.below[window.below].x) +
                           static_cast<long double>(points.above[window.above].x)) /
                          2;
    const long double off = window.half() - fitted.half + std::fabs(fitted.half) / 16 + 1;
    middles.push_back({x, (window.lowest + window.highest) / 2, 1 / (off * off)});
    weights += middles.back().weight;
    fitted.x += middles.back().weight * x;
    fitted.offset += middles.back().weight * middles.back().offset;
  }
  fitted.x /= weights;
  fitted.offset /= weights;
  long double both = 0;
  long double squares = 0;
  for (const Middle& middle : middles) {
    const long double distance = middle.x - fitted.x;
    both += middle.weight * distance * (middle.offset - fitted.offset);
    squares += middle.weight * distance * distance;
  }
  if (squares > 0) fitted.steeper = both / squares;
  return fitted;
}

// What a burst tells, in its own coordinates.
struct Told {
  Points points;
  Corridor corridor;
  Line line;
  long double half = 0;
  Windows windows;

  explicit Told(const Burst& burst) : points(burst) {}
  uint64_t bound_at(int64_t x) const {
    const Corridor::Margins margins = corridor.margins(line, x);
    const long double most = std::max(margins.above, margins.below);
    // A tick for the line's own rounding. Without a limit to the rate the burst is so short that
    // the one given has no part in it.
    return static_cast<uint64_t>(std::ceil(std::min(most < kInfinite ? most : half, 0x1p62L))) + 1;
  }
};

Result<Told> read(const Burst& burst, std::optional<double> given) {
  if (burst.forth.empty() || burst.back.empty())
    return failed("no messages went both ways between the clocks");
  Told told(burst);
  if (!told.points.add_to(told.corridor) || !told.corridor.is_open())
    return failed("messages came before they were sent: a clock was set meanwhile");
  const std::optional<Line> flattest = told.corridor.flattest();
  const std::optional<Line> steepest = told.corridor.steepest();
  const bool fits = given && *given > 0 && (!flattest || *given >= 1 + flattest->steeper) &&
                    (!steepest || *given <= 1 + steepest->steeper);
  long double rate = fits ? *given : 1;
  if (!fits) {
    const std::optional<Line> middle = told.corridor.middle();
    if (!middle || middle->steeper <= -1)
      return failed("too few messages went between the clocks to tell their rates");
    rate = 1 + middle->steeper;
  }
  // Along a better line others may be the fastest of their windows.
  for (int round = 0; round < (fits ? 1 : 3); ++round) {
    told.windows = windows_along(told.points, rate);
    const std::optional<Fit> fitted = fit(told.points, told.windows);
    if (!fitted) return failed("no messages went both ways at one time between the clocks");
    const long double y = fitted->offset + rate * fitted->x;
    if (!fits && rate + fitted->steeper > 0) rate += fitted->steeper;
    told.line = {{rounded(fitted->x), rounded(y)}, 0, rate - 1};
    told.half = fitted->half;
  }
  return told;
}

Meeting meeting_of(const Told& told) {
  Meeting meeting;
  meeting.there = told.points.there + static_cast<uint64_t>(told.line.at.x);
  meeting.here = static_cast<int64_t>(told.points.here + static_cast<uint64_t>(told.line.at.y));
  meeting.bound = told.bound_at(told.line.at.x);
  meeting.half_round_trip = static_cast<uint64_t>(std::ceil(std::max(told.half, 0.0L)));
  meeting.rate = static_cast<double>(1 + told.line.steeper);
  return meeting;
}

uint64_t nanoseconds(uint64_t ticks, double ns_per_tick) {
  const double ns = std::ceil(static_cast<double>(ticks) * ns_per_tick);
  return ns < 0x1p63 ? static_cast<uint64_t>(ns) : trace::kNoBound;
}

// With the only burst there is: known for as long as it took.
trace::ClockMap map_of_one(const Told& told, double ns_per_tick) {
  int64_t first = told.line.at.x;
  int64_t last = first;
  for (const auto* list : {&told.points.below, &told.points.above}) {
    for (const Point& point : *list) {
      first = std::min(first, point.x);
      last = std::max(last, point.x);
    }
  }
  const auto piece_from = [&](int64_t x) {
    Line line = told.line;
    line.at = {x, rounded(static_cast<long double>(line.at.y) + told.line.rise(x))};
    return piece_along(line, told.points.there, static_cast<int64_t>(told.points.here));
  };
  trace::ClockPiece during = piece_from(first);
  trace::ClockPiece after = piece_from(last);
  during.bound_ns = nanoseconds(std::max(told.bound_at(first), told.bound_at(last)), ns_per_tick);
  return trace::ClockMap({during, after});
}

// From one meeting to the next.
struct Leg {
  uint64_t run = 0;
  int64_t rise = 0;
  uint64_t bound = 0;  // of both ends together

  Leg(const Meeting& begin, const Meeting& end)
      : run(end.there - begin.there), rise(end.here - begin.here), bound(begin.bound + end.bound) {}
  long double slope() const {
    return static_cast<long double>(rise) / static_cast<long double>(run);
  }
  // By how much the clocks left the straight line to here, where the neighbour is right and the
  // bounds of all ends do not explain it.
  uint64_t left_line(const Leg& neighbour) const {
    const auto length = static_cast<long double>(run);
    const long double apart = std::fabs(slope() - neighbour.slope()) * length;
    const long double explained =
        static_cast<long double>(bound) + static_cast<long double>(neighbour.bound) * length /
                                              static_cast<long double>(neighbour.run);
    return static_cast<uint64_t>(std::ceil(std::clamp(apart - explained, 0.0L, 0x1p62L)));
  }
};

}  // namespace

Result<Burst> fastest(const Burst& burst) {
  if (burst.forth.size() <= kWindows && burst.back.size() <= kWindows) return burst;
  const Result<Told> told = read(burst, std::nullopt);
  if (!told) return told.error();
  Burst kept;
  for (const Fastest& window : told->windows) {
    if (window.below != SIZE_MAX) kept.forth.push_back(burst.forth[window.below]);
    if (window.above != SIZE_MAX) kept.back.push_back(burst.back[window.above]);
  }
  return kept;
}

Result<Meeting> meet(const Burst& burst, std::optional<double> rate) {
  const Result<Told> told = read(burst, rate);
  if (!told) return told.error();
  return meeting_of(*told);
}

Result<trace::ClockMap> map_through(std::span<const Burst> bursts, double ns_per_tick,
                                    std::optional<double> rate) {
  if (bursts.size() < 2) {
    if (bursts.empty()) return failed("there was no burst of messages between the clocks");
    const Result<Told> told = read(bursts.front(), rate);
    if (!told) return told.error();
    return map_of_one(*told, ns_per_tick);
  }
  std::vector<Meeting> meetings;
  for (const Burst& burst : bursts) {
    const Result<Meeting> met = meet(burst, rate);
    if (!met) return met.error();
    if (!meetings.empty() &&
        (met->there <= meetings.back().there || met->here <= meetings.back().here))
      return failed("a clock did not go on from one burst to the next: a new segment begins");
    meetings.push_back(*met);
  }
  // The neighbours know the rate better than a burst does.
  const std::vector<Meeting> alone = meetings;
  for (size_t i = 0; i < bursts.size(); ++i) {
    const Leg around(alone[i > 0 ? i - 1 : 0], alone[std::min(i + 1, alone.size() - 1)]);
    const Result<Meeting> met = meet(bursts[i], static_cast<double>(around.slope()));
    if (met) meetings[i] = *met;
  }

  std::vector<Leg> legs;
  for (size_t i = 0; i + 1 < meetings.size(); ++i) legs.emplace_back(meetings[i], meetings[i + 1]);
  std::vector<trace::ClockPiece> pieces;
  for (size_t i = 0; i < legs.size(); ++i) {
    uint64_t bound = std::max(meetings[i].bound, meetings[i + 1].bound);
    uint64_t left = i > 0 ? legs[i].left_line(legs[i - 1]) : 0;
    if (i + 1 < legs.size()) left = std::max(left, legs[i].left_line(legs[i + 1]));
    bound += left;
    const trace::Slope slope = trace::slope(static_cast<uint64_t>(legs[i].rise), legs[i].run);
    pieces.push_back({.t0 = meetings[i].there,
                      .u0 = meetings[i].here,
                      .mult = slope.mult,
                      .shift = slope.shift,
                      .rounding = slope.shift > 0 ? uint64_t{1} << (slope.shift - 1) : 0,
                      .bound_ns = nanoseconds(bound, ns_per_tick)});
  }
  trace::ClockPiece after = pieces.back();
  after.t0 = meetings.back().there;
  after.u0 = meetings.back().here;
  after.bound_ns = trace::kNoBound;
  pieces.push_back(after);
  return trace::ClockMap(std::move(pieces));
}

}  // namespace strata::clock
