// SPDX-License-Identifier: Apache-2.0
#include "clock/offset_estimate.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "clock/line.h"

namespace strata::clock {
namespace {

Error failed(const char* why) { return {"", std::nullopt, why}; }

uint64_t nanoseconds(uint64_t ticks, double ns_per_tick) {
  const double ns = std::ceil(static_cast<double>(ticks) * ns_per_tick);
  return ns < 0x1p63 ? static_cast<uint64_t>(ns) : trace::kNoBound;
}

// From one meeting to the next.
struct Leg {
  Meeting begin;
  Meeting end;

  uint64_t run() const { return end.there - begin.there; }
  int64_t rise() const { return end.here - begin.here; }
  long double slope() const {
    return static_cast<long double>(rise()) / static_cast<long double>(run());
  }
  // How far the line can be off, if neither clock changed its rate from the one burst to the other.
  // Nothing: one did, since no line fits both.
  std::optional<uint64_t> straight_bound(const Burst& first, const Burst& second) const {
    const Origin origin{begin.there, static_cast<uint64_t>(begin.here)};
    Corridor corridor;
    if (!add_burst(first, origin, corridor) || !add_burst(second, origin, corridor) ||
        !corridor.is_open())
      return std::nullopt;
    const Line line{.at = {}, .steeper = slope() - 1};
    long double most = 0;
    for (const int64_t x : {int64_t{0}, static_cast<int64_t>(run())}) {
      const Corridor::Margins margins = corridor.margins(line, x);
      most = std::max({most, margins.below, margins.above});
    }
    // A tick for rounding.
    return static_cast<uint64_t>(std::ceil(std::min(most, 0x1p62L))) + 1;
  }
  // By how much the clocks left the straight line to here, where the neighbour is right and the
  // bounds of all ends do not explain it.
  uint64_t left_line(const Leg& neighbour) const {
    const auto length = static_cast<long double>(run());
    const long double apart = std::fabs(slope() - neighbour.slope()) * length;
    const long double explained = both_bounds() + neighbour.both_bounds() * length /
                                                      static_cast<long double>(neighbour.run());
    return static_cast<uint64_t>(std::ceil(std::clamp(apart - explained, 0.0L, 0x1p62L)));
  }
  long double both_bounds() const {
    return static_cast<long double>(begin.bound) + static_cast<long double>(end.bound);
  }
};

bool go_on(const std::vector<Meeting>& meetings) {
  for (size_t i = 1; i < meetings.size(); ++i)
    if (meetings[i].there <= meetings[i - 1].there || meetings[i].here <= meetings[i - 1].here)
      return false;
  return true;
}

Result<std::vector<Meeting>> meet_all(std::span<const Burst> bursts, std::optional<double> rate) {
  std::vector<Meeting> meetings;
  for (const Burst& burst : bursts) {
    const Result<Meeting> met = meet(burst, rate);
    if (!met) return met.error();
    meetings.push_back(*met);
  }
  if (!go_on(meetings))
    return failed("a clock did not go on from one burst to the next: a new segment begins");
  // The bursts before and after know the rate better than a burst does.
  std::vector<Meeting> better = meetings;
  for (size_t i = 0; i < meetings.size() && meetings.size() > 1; ++i) {
    const Leg around{meetings[i > 0 ? i - 1 : 0], meetings[std::min(i + 1, meetings.size() - 1)]};
    const Result<Meeting> met = meet(bursts[i], static_cast<double>(around.slope()));
    if (met) better[i] = *met;
  }
  return go_on(better) ? better : meetings;
}

}  // namespace

Result<trace::ClockMap> map_through(std::span<const Burst> bursts, double ns_per_tick,
                                    std::optional<double> rate) {
  if (bursts.empty()) return failed("there was no burst of messages between the clocks");
  const Result<std::vector<Meeting>> met = meet_all(bursts, rate);
  if (!met) return met.error();
  const std::vector<Meeting>& meetings = *met;

  std::vector<Leg> legs;
  for (size_t i = 0; i + 1 < meetings.size(); ++i) legs.push_back({meetings[i], meetings[i + 1]});
  std::vector<trace::ClockPiece> pieces;
  for (size_t i = 0; i < legs.size(); ++i) {
    uint64_t left = i > 0 ? legs[i].left_line(legs[i - 1]) : 0;
    if (i + 1 < legs.size()) left = std::max(left, legs[i].left_line(legs[i + 1]));
    const uint64_t bound = legs[i]
                               .straight_bound(bursts[i], bursts[i + 1])
                               .value_or(std::max(meetings[i].bound, meetings[i + 1].bound)) +
                           left;
    const trace::Slope slope = trace::slope(static_cast<uint64_t>(legs[i].rise()), legs[i].run());
    pieces.push_back({.t0 = meetings[i].there,
                      .u0 = meetings[i].here,
                      .mult = slope.mult,
                      .shift = slope.shift,
                      .rounding = slope.shift > 0 ? uint64_t{1} << (slope.shift - 1) : 0,
                      .bound_ns = nanoseconds(bound, ns_per_tick)});
  }
  const Meeting& last = meetings.back();
  trace::ClockPiece after =
      pieces.empty() ? piece_along({.at = {}, .steeper = last.rate - 1.0L}, 0, 0) : pieces.back();
  after.t0 = last.there;
  after.u0 = last.here;
  after.bound_ns = trace::kNoBound;
  pieces.push_back(after);
  return trace::ClockMap(std::move(pieces));
}

}  // namespace strata::clock
