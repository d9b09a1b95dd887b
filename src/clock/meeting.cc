// SPDX-License-Identifier: Apache-2.0
#include "clock/meeting.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "clock/corridor.h"

namespace strata::clock {
namespace {

constexpr size_t kMostWindows = 64;

Error failed(const char* why) { return {"", std::nullopt, why}; }

int64_t rounded(long double value) { return std::llround(std::clamp(value, -0x1p62L, 0x1p62L)); }

// A burst as points, counted from its first answer.
struct Points {
  Origin origin;
  std::vector<Point> below;  // forth
  std::vector<Point> above;  // back

  explicit Points(const Burst& burst)
      : origin{burst.back.front().sent, burst.back.front().received} {
    for (const Crossing& crossing : burst.forth) below.push_back(origin.point_of_forth(crossing));
    for (const Crossing& crossing : burst.back) above.push_back(origin.point_of_back(crossing));
  }
};

// Offsets are y - rate x x.
struct Window {
  size_t below = 0;  // the places of its fastest messages
  size_t above = 0;
  long double x = 0;
  long double offset = 0;
  long double half = 0;  // of the way to and fro

  long double weight() const { return 1 / (std::fabs(half) + 1); }
};

std::vector<Window> windows_along(const Points& points, long double rate) {
  const size_t pairs = std::min(points.below.size(), points.above.size());
  // A power of two, so that a window does not reach into both of two ways of waiting.
  size_t width = 1;
  while (pairs > width * kMostWindows) width *= 2;
  const auto offset = [&](const Point& point) {
    return static_cast<long double>(point.y) - rate * static_cast<long double>(point.x);
  };
  std::vector<Window> windows;
  for (size_t first = 0; first < pairs; first += width) {
    Window window{.below = first, .above = first};
    for (size_t i = first; i < std::min(first + width, pairs); ++i) {
      if (offset(points.below[i]) > offset(points.below[window.below])) window.below = i;
      if (offset(points.above[i]) < offset(points.above[window.above])) window.above = i;
    }
    const Point& sent = points.below[window.below];
    const Point& received = points.above[window.above];
    window.x = (static_cast<long double>(sent.x) + static_cast<long double>(received.x)) / 2;
    window.offset = (offset(sent) + offset(received)) / 2;
    window.half = (offset(received) - offset(sent)) / 2;
    windows.push_back(window);
  }
  return windows;
}

long double median(std::vector<long double>& values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// How the offset changes along x: of each window the median of the slopes to all others, and of
// these the median again, which holds while half of the windows are right (Siegel's).
long double slope_of(const std::vector<Window>& windows) {
  std::vector<long double> medians;
  std::vector<long double> slopes;
  for (const Window& one : windows) {
    slopes.clear();
    for (const Window& other : windows)
      if (other.x != one.x) slopes.push_back((other.offset - one.offset) / (other.x - one.x));
    if (!slopes.empty()) medians.push_back(median(slopes));
  }
  return medians.empty() ? 0 : median(medians);
}

// The shortest range of offsets that holds half of the weight.
std::span<const Window> densest_half(std::vector<Window>& windows) {
  std::ranges::sort(windows, {}, &Window::offset);
  long double all = 0;
  for (const Window& window : windows) all += window.weight();
  std::span<const Window> best = windows;
  long double inside = 0;
  size_t end = 0;
  for (size_t begin = 0; begin < windows.size(); ++begin) {
    while (end < windows.size() && inside < all / 2) inside += windows[end++].weight();
    if (inside < all / 2) break;
    if (windows[end - 1].offset - windows[begin].offset < best.back().offset - best.front().offset)
      best = std::span(windows).subspan(begin, end - begin);
    inside -= windows[begin].weight();
  }
  return best;
}

// The line through windows that agree: where its offset is known best, and what it is there.
struct Middle {
  long double x = 0;
  long double offset = 0;
};

Middle middle_of(std::span<const Window> windows) {
  Middle middle;
  long double weights = 0;
  for (const Window& window : windows) {
    weights += window.weight();
    middle.x += window.weight() * window.x;
    middle.offset += window.weight() * window.offset;
  }
  middle.x /= weights;
  middle.offset /= weights;
  return middle;
}

struct Told {
  Points points;
  std::vector<Window> windows;
  Meeting meeting;
};

Result<Told> read(const Burst& burst, std::optional<double> given) {
  if (burst.forth.empty() || burst.back.empty())
    return failed("no messages went both ways between the clocks");
  Told told{.points = Points(burst), .windows = {}, .meeting = {}};
  Corridor corridor;
  if (!add_burst(burst, told.points.origin, corridor) || !corridor.is_open())
    return failed("messages came before they were sent: a clock was set meanwhile");
  const std::optional<Line> flattest = corridor.flattest();
  const std::optional<Line> steepest = corridor.steepest();
  const bool is_given = given && *given > 0 && (!flattest || *given >= 1 + flattest->steeper) &&
                        (!steepest || *given <= 1 + steepest->steeper);
  if (!is_given && (!flattest || !steepest || steepest->steeper <= -1))
    return failed("too few messages went between the clocks to tell their rates");
  long double rate = is_given ? *given : 1 + (flattest->steeper + steepest->steeper) / 2;
  // Along a better line others may be the fastest of their windows.
  for (int round = 0; round < 3 && !is_given; ++round) {
    const long double better = rate + slope_of(windows_along(told.points, rate));
    rate = std::clamp(better, 1 + flattest->steeper, 1 + steepest->steeper);
  }
  if (rate <= 0) return failed("one of the clocks stands still");
  told.windows = windows_along(told.points, rate);
  std::vector<Window> sorted = told.windows;
  const Middle middle = middle_of(densest_half(sorted));
  const Point at{rounded(middle.x), rounded(middle.offset + rate * middle.x)};

  const Corridor::Margins margins = corridor.margins({at, 0, rate - 1}, at.x);
  const long double half = std::ranges::min(told.windows, {}, &Window::half).half;
  const long double most = std::max(margins.above, margins.below);
  told.meeting = {
      .there = told.points.origin.there + static_cast<uint64_t>(at.x),
      .here = static_cast<int64_t>(told.points.origin.here + static_cast<uint64_t>(at.y)),
      // A tick for rounding. Where nothing limits the rate, the burst is too short for the one
      // given to have a part in it.
      .bound = static_cast<uint64_t>(rounded(std::ceil(std::isfinite(most) ? most : half))) + 1,
      .half_round_trip = static_cast<uint64_t>(rounded(std::ceil(std::max(half, 0.0L)))),
      .rate = static_cast<double>(rate)};
  return told;
}

}  // namespace

Result<Meeting> meet(const Burst& burst, std::optional<double> rate) {
  const Result<Told> told = read(burst, rate);
  if (!told) return told.error();
  return told->meeting;
}

Result<Burst> fastest(const Burst& burst) {
  if (std::max(burst.forth.size(), burst.back.size()) <= kMostWindows) return burst;
  const Result<Told> told = read(burst, std::nullopt);
  if (!told) return told.error();
  Burst kept;
  for (const Window& window : told->windows) {
    kept.forth.push_back(burst.forth[window.below]);
    kept.back.push_back(burst.back[window.above]);
  }
  return kept;
}

}  // namespace strata::clock
