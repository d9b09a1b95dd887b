// SPDX-License-Identifier: Apache-2.0
#include "clock/causal_fit.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace strata::clock {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr int64_t kSecond = 1'000'000'000;

// Two clocks of which the one is 5 s ahead of the reference and 40 ppm fast.
constexpr int64_t kBegin = 1'700'000'000 * kSecond;
int64_t own(int64_t ns) { return kBegin + ns + ns / 25'000; }
int64_t reference(int64_t ns) { return kBegin - 5 * kSecond + ns; }

// Messages both ways, ten a second.
void send(CausalFit& fit, int64_t begin, int64_t end, int64_t set_back = 0, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> delay(1.0 / 300'000);
  for (int64_t ns = begin; ns < end; ns += kSecond / 10) {
    const auto way = [&] { return 50'000 + static_cast<int64_t>(delay(random)); };
    fit.caused(own(ns) - set_back, reference(ns + way()));
    fit.caused_by(own(ns + 5'000'000 + way()) - set_back, reference(ns + 5'000'000));
  }
}

int64_t mapped(const trace::ClockMap& map, int64_t time) {
  return map.at(static_cast<uint64_t>(time));
}

TEST(CausalFit, FindsTheLineWithinItsBound) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    CausalFit fit;
    send(fit, 0, 100 * kSecond, 0, seed);
    EXPECT_EQ(fit.pairs(), 2'000u);
    const Result<std::vector<Stretch>> stretches = fit.finish();
    ASSERT_TRUE(stretches) << stretches.error().text();
    ASSERT_THAT(*stretches, SizeIs(1));
    const Stretch& only = stretches->front();
    EXPECT_LT(only.bound, 90'000u) << "half of the fastest ways to and fro are 50 us";
    const trace::ClockMap map = map_of(*stretches);
    for (int64_t ns = 0; ns <= 99 * kSecond; ns += kSecond)
      ASSERT_LE(std::abs(mapped(map, own(ns)) - reference(ns)), static_cast<int64_t>(only.bound))
          << "seed " << seed;
  }
}

TEST(CausalFit, HasNoBoundBeforeTheFirstPairNorBehindTheLast) {
  CausalFit fit;
  send(fit, 0, 10 * kSecond);
  const trace::ClockMap map = map_of(*fit.finish());
  const auto bound = [&](int64_t ns) {
    return map.span_at(static_cast<uint64_t>(own(ns))).piece->bound_ns;
  };
  EXPECT_EQ(bound(-kSecond), trace::kNoBound);
  EXPECT_NE(bound(5 * kSecond), trace::kNoBound);
  EXPECT_EQ(bound(11 * kSecond), trace::kNoBound);
  EXPECT_NEAR(static_cast<double>(mapped(map, own(-kSecond)) - reference(-kSecond)), 0, 100'000);
}

TEST(CausalFit, BeginsAnewWhereAClockWasSet) {
  CausalFit fit;
  send(fit, 0, 50 * kSecond);
  send(fit, 60 * kSecond, 100 * kSecond, 3 * kSecond);
  const Result<std::vector<Stretch>> stretches = fit.finish();
  ASSERT_TRUE(stretches) << stretches.error().text();
  ASSERT_THAT(*stretches, SizeIs(2));
  const trace::ClockMap map = map_of(*stretches);
  EXPECT_NEAR(static_cast<double>(mapped(map, own(20 * kSecond)) - reference(20 * kSecond)), 0,
              100'000);
  EXPECT_NEAR(
      static_cast<double>(mapped(map, own(80 * kSecond) - 3 * kSecond) - reference(80 * kSecond)),
      0, 100'000);
  EXPECT_TRUE(std::ranges::any_of(map.pieces(), &trace::ClockPiece::gap)) << "in between";
}

TEST(CausalFit, OfOneWayAloneSaysThatItBoundsNothing) {
  CausalFit fit;
  for (int64_t ns = 0; ns < 10 * kSecond; ns += kSecond) fit.caused(own(ns), reference(ns + 1000));
  const Result<std::vector<Stretch>> stretches = fit.finish();
  ASSERT_FALSE(stretches);
  EXPECT_THAT(stretches.error().cause, HasSubstr("one way"));
}

TEST(CausalFit, OfNothingOrTooLittleSaysSo) {
  EXPECT_THAT(CausalFit().finish().error().cause, HasSubstr("no event"));
  CausalFit fit;
  fit.caused(own(0), reference(100));
  fit.caused_by(own(1000), reference(500));
  EXPECT_THAT(fit.finish().error().cause, HasSubstr("too little"));
}

TEST(CausalFit, IsNotLedAstrayByTimesOutOfAllReach) {
  CausalFit fit;
  fit.caused(0, 0);
  fit.caused(INT64_MAX, INT64_MIN);
  fit.caused_by(INT64_MIN, INT64_MAX);
  EXPECT_EQ(fit.pairs(), 1u);
  EXPECT_FALSE(fit.finish());
}

}  // namespace
}  // namespace strata::clock
