// SPDX-License-Identifier: Apache-2.0
#include "clock/offset_estimate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "simulated_link.h"

namespace strata::clock {
namespace {

using testing::HasSubstr;

constexpr int kMessages = 2000;

double error_ticks(const SimulatedLink& link, const Meeting& meeting) {
  return static_cast<double>(meeting.here - link.here_of(meeting.there));
}

TEST(Meeting, OnAnEvenLinkIsFoundFarBetterThanItsBound) {
  SimulatedLink link;
  const Result<Meeting> meeting = meet(link.burst(1, kMessages));
  ASSERT_TRUE(meeting) << meeting.error().text();
  const double ns_per_tick = 1e9 / link.here_hz;
  EXPECT_LT(std::abs(error_ticks(link, *meeting)) * ns_per_tick, 100);
  const double bound_ns = static_cast<double>(meeting->bound) * ns_per_tick;
  EXPECT_GT(bound_ns, link.forth_ns) << "nobody can know better than half of both ways";
  EXPECT_LT(bound_ns, link.forth_ns + 300);
  EXPECT_NEAR(static_cast<double>(meeting->half_round_trip) * ns_per_tick, link.forth_ns, 100);
}

TEST(Meeting, KnowsTheRateFromOneBurst) {
  SimulatedLink link;
  const Result<Meeting> meeting = meet(link.burst(0, 8 * kMessages));
  ASSERT_TRUE(meeting) << meeting.error().text();
  EXPECT_NEAR(meeting->rate * link.there_hz / link.here_hz, 1, 2e-6);
}

// The property that all rests on. Whatever the ways are, the truth is within the bound.
TEST(Meeting, HasABoundThatAlwaysHolds) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> any(0, 1);
  int whole = 0;
  for (int round = 0; round < 1000; ++round) {
    SimulatedLink link;
    link.random.seed(static_cast<uint64_t>(round));
    link.here_hz = 1e9 + 3e9 * any(random);
    link.there_hz =
        round % 3 == 0 ? link.here_hz * (1 + 1e-4 * any(random)) : 1e9 + 3e9 * any(random);
    link.forth_ns = 500 + 50'000 * any(random);
    link.back_ns = round % 2 == 0 ? link.forth_ns : 500 + 50'000 * any(random);
    link.noise_ns = 20'000 * any(random);
    link.preempted = 0.2 * any(random);
    link.there_begin = random() >> 2;
    link.here_begin = random() >> 2;
    const int messages = 4 + static_cast<int>(random() % 500);
    const bool knows_rate = round % 5 == 0;
    const std::optional<double> rate =
        knows_rate ? std::optional(link.here_hz / link.there_hz) : std::nullopt;
    const Burst burst = link.burst(any(random), messages);
    const Result<Meeting> meeting = meet(burst, rate);
    if (!meeting) {
      EXPECT_LT(messages, 100) << meeting.error().text();
      continue;
    }
    ++whole;
    ASSERT_LE(std::abs(error_ticks(link, *meeting)), static_cast<double>(meeting->bound))
        << "round " << round;
    // The same from the fastest messages alone, which can know no more.
    const Result<Burst> kept = fastest(burst);
    ASSERT_TRUE(kept) << kept.error().text();
    EXPECT_LE(kept->forth.size(), 64u);
    EXPECT_LE(kept->back.size(), 64u);
    const Result<Meeting> again = meet(*kept, rate);
    if (!again) continue;
    ASSERT_LE(std::abs(error_ticks(link, *again)), static_cast<double>(again->bound))
        << "round " << round;
  }
  EXPECT_GT(whole, 900);
}

TEST(Meeting, IsRefusedWhereACounterWasSetMeanwhile) {
  SimulatedLink link;
  Burst burst = link.burst(0, kMessages);
  for (size_t i = burst.forth.size() / 2; i < burst.forth.size(); ++i) {
    burst.forth[i].received += 1'000'000;
    burst.back[i].sent += 1'000'000;
  }
  const Result<Meeting> meeting = meet(burst);
  ASSERT_FALSE(meeting);
  EXPECT_THAT(meeting.error().cause, HasSubstr("a clock was set meanwhile"));
}

TEST(Meeting, NeedsMessagesBothWays) {
  SimulatedLink link;
  Burst burst = link.burst(0, 100);
  burst.back.clear();
  EXPECT_FALSE(meet(burst));
  EXPECT_FALSE(meet(Burst{}));
  EXPECT_FALSE(map_through({}, 1));
}

// Whatever numbers another machine sends.
TEST(Meeting, OfOddNumbersIsAnErrorOrHasABound) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    Burst burst;
    const int shift = static_cast<int>(random() % 64);
    for (int i = 0; i < 1 + static_cast<int>(random() % 50); ++i) {
      burst.forth.push_back({random() >> shift, random() >> shift});
      burst.back.push_back({random() >> shift, random() >> shift});
    }
    if (const Result<Meeting> meeting = meet(burst)) {
      EXPECT_GE(meeting->bound, 1u);
    }
    const std::vector<Burst> twice = {burst, burst};
    EXPECT_FALSE(map_through(twice, 1)) << "time did not go on";
  }
}

double worst_ns(const SimulatedLink& link, const trace::ClockMap& map, double begin, double end,
                bool& within) {
  double worst = 0;
  for (int i = 0; i <= 1000; ++i) {
    const auto there = static_cast<uint64_t>(link.there_at(begin + (end - begin) * i / 1000));
    const auto error = static_cast<double>(map.at(there) - link.here_of(there));
    const double ns = std::abs(error) * 1e9 / link.here_hz;
    const uint64_t bound_ns = map.span_at(there).piece->bound_ns;
    within = within && bound_ns != trace::kNoBound && ns <= static_cast<double>(bound_ns) + 0.5;
    worst = std::max(worst, ns);
  }
  return worst;
}

TEST(MapThroughBursts, HoldsBetweenThemAndItsBoundToo) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SimulatedLink link;
    link.random.seed(seed);
    std::vector<Burst> bursts;
    for (int i = 0; i <= 12; ++i) bursts.push_back(*fastest(link.burst(5 * i, kMessages)));
    const Result<trace::ClockMap> map = map_through(bursts, 1e9 / link.here_hz);
    ASSERT_TRUE(map) << map.error().text();
    bool within = true;
    EXPECT_LT(worst_ns(link, *map, 0.1, 60, within), 200);
    EXPECT_TRUE(within) << "seed " << seed;
    EXPECT_EQ(map->pieces().back().bound_ns, trace::kNoBound) << "what comes then nobody knows";
    for (size_t i = 0; i + 1 < map->pieces().size(); ++i)
      EXPECT_LT(map->pieces()[i].bound_ns, 7'500u) << "half of both ways, and what the fit leaves";
  }
}

TEST(MapThroughBursts, IsAsFarOffAsTheWaysDifferAndSaysSo) {
  SimulatedLink link;
  link.back_ns = 27'000;
  std::vector<Burst> bursts;
  for (int i = 0; i <= 3; ++i) bursts.push_back(link.burst(5 * i, kMessages));
  const Result<trace::ClockMap> map = map_through(bursts, 1e9 / link.here_hz);
  ASSERT_TRUE(map) << map.error().text();
  bool within = true;
  EXPECT_NEAR(worst_ns(link, *map, 0.1, 15, within), 10'000, 300);
  EXPECT_TRUE(within);
}

TEST(MapThroughBursts, FollowsAClockWhoseRateChanges) {
  SimulatedLink link;
  link.wander = 2e-8;  // a part in a million within fifty seconds: a warm machine's
  std::vector<Burst> bursts;
  for (int i = 0; i <= 12; ++i) bursts.push_back(link.burst(5 * i, kMessages));
  const Result<trace::ClockMap> map = map_through(bursts, 1e9 / link.here_hz);
  ASSERT_TRUE(map) << map.error().text();
  bool within = true;
  EXPECT_LT(worst_ns(link, *map, 0.1, 60, within), 400);
  EXPECT_TRUE(within);
}

TEST(MapThroughBursts, SaysHowFarAClockJumpedInBetween) {
  SimulatedLink link;
  std::vector<Burst> bursts;
  for (int i = 0; i <= 6; ++i) bursts.push_back(link.burst(5 * i, kMessages));
  // Between the third and the fourth the clock there is set 1 ms ahead, at some time.
  const auto jump = static_cast<uint64_t>(1e-3 * link.there_hz);
  for (size_t i = 3; i < bursts.size(); ++i) {
    for (Crossing& crossing : bursts[i].forth) crossing.received += jump;
    for (Crossing& crossing : bursts[i].back) crossing.sent += jump;
  }
  const Result<trace::ClockMap> map = map_through(bursts, 1e9 / link.here_hz);
  ASSERT_TRUE(map) << map.error().text();
  ASSERT_EQ(map->pieces().size(), 7u);
  EXPECT_GT(map->pieces()[2].bound_ns, 900'000u);
  EXPECT_LT(map->pieces()[2].bound_ns, 1'100'000u);
}

TEST(MapThroughBursts, WithOneAloneHasNoBound) {
  SimulatedLink link;
  const Burst burst = link.burst(0, kMessages);
  const Result<trace::ClockMap> map = map_through(std::vector{burst}, 1e9 / link.here_hz);
  ASSERT_TRUE(map) << map.error().text();
  ASSERT_EQ(map->pieces().size(), 1u);
  const Result<Meeting> meeting = meet(burst);
  EXPECT_EQ(map->at(meeting->there), meeting->here);
  EXPECT_EQ(map->pieces()[0].bound_ns, trace::kNoBound);
}

}  // namespace
}  // namespace strata::clock
