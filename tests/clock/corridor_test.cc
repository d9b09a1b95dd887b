// SPDX-License-Identifier: Apache-2.0
#include "clock/corridor.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace strata::clock {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

long double slope(const Line& line) { return 1 + line.steeper; }
long double value(const Line& line, int64_t x) {
  return static_cast<long double>(line.at.y) + line.rise(x);
}

// The hull by its definition: those points that some line touches with none below it.
std::vector<Point> hull_by_definition(const std::vector<Point>& points) {
  std::vector<Point> hull;
  for (const Point& p : points) {
    // Slopes that leave no point left of p, and none right of it, below the line through p.
    long double least = -INFINITY;
    long double most = INFINITY;
    bool lowest = true;
    for (const Point& q : points) {
      if (q.x == p.x) {
        lowest = lowest && p.y <= q.y;
        continue;
      }
      const long double to = static_cast<long double>(q.y - p.y) / (q.x - p.x);
      if (q.x < p.x) least = std::max(least, to);
      if (q.x > p.x) most = std::min(most, to);
    }
    if (lowest && least < most && std::ranges::find(hull, p) == hull.end()) hull.push_back(p);
  }
  std::ranges::sort(hull, {}, &Point::x);
  return hull;
}

TEST(LowerHull, IsWhatItsDefinitionSays) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::uniform_int_distribution<int64_t> place(-20, 20 + round);
    std::vector<Point> points;
    LowerHull hull;
    for (int i = 0; i < 1 + round % 40; ++i) {
      points.push_back({place(random), place(random)});
      hull.add(points.back());
    }
    const std::vector<Point> corners(hull.corners().begin(), hull.corners().end());
    ASSERT_EQ(corners, hull_by_definition(points)) << "round " << round;
  }
}

TEST(LowerHull, OfAStraightLineHasTwoCorners) {
  LowerHull hull;
  for (int64_t x : {3, 1, 2, 5, 4}) hull.add({x, 10 * x});
  EXPECT_THAT(hull.corners(), ElementsAre(Point{1, 10}, Point{5, 50}));
}

TEST(LowerHull, OfABowlForgetsCornersAndLiesLowerThen) {
  LowerHull hull;
  for (int64_t x = 0; x < 10'000; ++x) hull.add({x, x * x});
  EXPECT_LE(hull.corners().size(), 2048u);
  EXPECT_EQ(hull.corners().back(), (Point{9'999, 9'999 * 9'999}));
}

// Lines that fit, by trying: slopes and offsets through all pairs of points.
struct Tried {
  long double least = INFINITY;
  long double most = -INFINITY;
  long double lowest_at_7 = INFINITY;
  long double highest_at_7 = -INFINITY;
};
Tried try_all(const std::vector<Point>& above, const std::vector<Point>& below) {
  std::vector<Point> all = above;
  all.insert(all.end(), below.begin(), below.end());
  Tried tried;
  for (const Point& p : all) {
    for (const Point& q : all) {
      if (p.x >= q.x) continue;
      const long double rate = static_cast<long double>(q.y - p.y) / (q.x - p.x);
      const auto on_line = [&](int64_t x) {
        return p.y + rate * static_cast<long double>(x - p.x);
      };
      constexpr long double kRounding = 1e-9L;
      const bool fits =
          std::ranges::all_of(above, [&](Point a) { return on_line(a.x) <= a.y + kRounding; }) &&
          std::ranges::all_of(below, [&](Point b) { return on_line(b.x) >= b.y - kRounding; });
      if (!fits) continue;
      tried.least = std::min(tried.least, rate);
      tried.most = std::max(tried.most, rate);
      tried.lowest_at_7 = std::min(tried.lowest_at_7, on_line(7));
      tried.highest_at_7 = std::max(tried.highest_at_7, on_line(7));
    }
  }
  return tried;
}

TEST(Corridor, HasTheSlopesAndMarginsThatTryingAllLinesFinds) {
  std::mt19937 random(2);
  std::uniform_int_distribution<int64_t> place(-50, 50);
  std::uniform_int_distribution<int64_t> distance(0, 60);
  int open = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Point> above;
    std::vector<Point> below;
    Corridor corridor;
    for (int i = 0; i < 6; ++i) {
      int64_t x = place(random);
      above.push_back({x, 2 * x + distance(random)});
      corridor.add_above(above.back());
      x = place(random);
      // Sometimes such that no line fits.
      below.push_back({x, 2 * x - distance(random) + (round % 4 == 0 ? 20 : 0)});
      corridor.add_below(below.back());
    }
    const Tried tried = try_all(above, below);
    ASSERT_EQ(corridor.is_open(), tried.least <= tried.most) << "round " << round;
    if (!corridor.is_open()) continue;
    ++open;
    const std::optional<Line> steepest = corridor.steepest();
    const std::optional<Line> flattest = corridor.flattest();
    if (!steepest || !flattest) continue;
    EXPECT_NEAR(slope(*steepest), tried.most, 1e-9L);
    EXPECT_NEAR(slope(*flattest), tried.least, 1e-9L);
    const std::optional<Line> middle = corridor.middle();
    ASSERT_TRUE(middle);
    for (const Point& point : above) EXPECT_LE(value(*middle, point.x), point.y + 1e-9L);
    for (const Point& point : below) EXPECT_GE(value(*middle, point.x), point.y - 1e-9L);
    const Corridor::Margins margins = corridor.margins(*middle, 7);
    EXPECT_NEAR(value(*middle, 7) + margins.above, tried.highest_at_7, 1e-9L) << round;
    EXPECT_NEAR(value(*middle, 7) - margins.below, tried.lowest_at_7, 1e-9L) << round;
  }
  EXPECT_GT(open, 250);
}

TEST(Corridor, IsClosedWhereAMessageCameBeforeItWasSent) {
  Corridor corridor;
  EXPECT_TRUE(corridor.add_below({5, 101}));
  EXPECT_TRUE(corridor.is_open());
  EXPECT_TRUE(corridor.add_above({5, 100}));
  EXPECT_FALSE(corridor.is_open());
  EXPECT_FALSE(corridor.middle());
}

TEST(Corridor, WithoutPointsOnBothSidesDoesNotBoundTheSlope) {
  Corridor corridor;
  corridor.add_above({0, 10});
  corridor.add_above({100, 110});
  EXPECT_FALSE(corridor.steepest());
  EXPECT_FALSE(corridor.middle());
  corridor.add_below({0, 0});
  EXPECT_TRUE(corridor.steepest());
  EXPECT_FALSE(corridor.flattest()) << "it may go down";
  EXPECT_FALSE(corridor.middle());
}

TEST(Corridor, TakesNoPointThatIsTooFar) {
  Corridor corridor;
  EXPECT_FALSE(corridor.add_above({INT64_MAX, 0}));
  EXPECT_FALSE(corridor.add_below({0, INT64_MIN}));
  EXPECT_THAT(corridor.above(), IsEmpty());
}

TEST(Line, TurnedAroundTwiceIsItself) {
  const Line line{{1'000'000, 5}, 0.25L, 1e-5L};
  const Line other = line.inverse().inverse();
  EXPECT_EQ(other.at, line.at);
  EXPECT_NEAR(other.above, line.above, 1e-15L);
  EXPECT_NEAR(other.steeper, line.steeper, 1e-20L);
  // y = 5.25 at x = 1'000'000: so x at y = 5 is a quarter of a tick before, by the slope.
  EXPECT_NEAR(line.inverse().rise(5), -0.25L / (1 + 1e-5L), 1e-15L);
}

TEST(Line, AsAPieceIsRightFarFromItsBeginning) {
  const Line line{{1'000, 2'000}, 0.4L, 0.25L};
  const trace::ClockPiece piece = piece_along(line, 50, 7);
  EXPECT_EQ(piece.t0, 1'050u);
  EXPECT_EQ(piece.u0, 2'007);
  EXPECT_EQ(piece.at(1'050 + (uint64_t{1} << 50)), 2'007 + (int64_t{5} << 48));
}

}  // namespace
}  // namespace strata::clock
