// SPDX-License-Identifier: Apache-2.0
#include "clock/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

namespace strata::clock {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kHour = 3600 * kSecond;
// A counter of 2'399'997'123 Hz that began a week before.
constexpr uint64_t kFrequency = 2'399'997'123;
constexpr uint64_t kWeek = kFrequency * 7 * 24 * 3600;
constexpr int64_t kEpoch = 1'700'000'000 * kSecond;

uint64_t cycles(int64_t ns) { return static_cast<uint64_t>(Int128{ns} * kFrequency / kSecond); }

// Of times since the epoch, which a double does not hold.
::testing::AssertionResult is_near(int64_t one, int64_t other, int64_t by) {
  if (std::abs(one - other) <= by) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << one << " and " << other << " are " << one - other << " apart";
}

// What an ideal machine shows `ns` after the week; the wall clock is slewed by `slew`.
Anchor ideal(int64_t ns, double slew = 0, uint64_t uncertainty = 20) {
  Anchor anchor;
  anchor.tsc = kWeek + cycles(ns);
  anchor.monotonic_raw_ns = 5 * kSecond + ns;
  anchor.monotonic_ns = 7 * kSecond + ns + std::llround(static_cast<double>(ns) * slew);
  anchor.boottime_ns = anchor.monotonic_ns + kSecond;
  anchor.wall_ns = anchor.monotonic_ns + kEpoch;
  anchor.uncertainty_ns = uncertainty;
  return anchor;
}

TEST(FitLine, GoesThroughTwoAnchors) {
  const std::vector<Anchor> anchors = {ideal(0), ideal(10 * kSecond)};
  const Result<trace::ClockPiece> line = fit_line(anchors, Reading::Tsc, Reading::MonotonicRaw);
  ASSERT_TRUE(line) << line.error().text();
  EXPECT_EQ(line->t0, kWeek);
  EXPECT_EQ(line->u0, 5 * kSecond);
  EXPECT_EQ(line->at(anchors[1].tsc), 15 * kSecond);
  EXPECT_LE(line->bound_ns, 21u);
  EXPECT_TRUE(is_near(line->at(kWeek + cycles(kHour)), 5 * kSecond + kHour, 200))
      << "a cycle of rounding in 10 s, 360 times over";
}

TEST(FitLine, ManyNoisyAnchorsGiveABetterLineThanTwo) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int64_t> noise(-50, 50);
  std::vector<Anchor> anchors;
  for (int i = 0; i <= 720; ++i) {
    anchors.push_back(ideal(i * 5 * kSecond, 0, 50));
    anchors.back().monotonic_raw_ns += noise(random);
  }
  const Result<trace::ClockPiece> line = fit_line(anchors, Reading::Tsc, Reading::MonotonicRaw);
  ASSERT_TRUE(line) << line.error().text();
  for (int64_t at = 0; at <= kHour; at += kHour / 16)
    EXPECT_TRUE(is_near(line->at(kWeek + cycles(at)), 5 * kSecond + at, 10)) << at;
  EXPECT_GE(line->bound_ns, 50u);
  EXPECT_LE(line->bound_ns, 110u);
}

TEST(FitLine, AnAnchorTakenInAWideWindowCountsForLittle) {
  std::vector<Anchor> anchors;
  for (int i = 0; i <= 10; ++i) anchors.push_back(ideal(i * kSecond));
  anchors[10].monotonic_raw_ns += 4'000;
  anchors[10].uncertainty_ns = 5'000;
  const Result<trace::ClockPiece> line = fit_line(anchors, Reading::Tsc, Reading::MonotonicRaw);
  ASSERT_TRUE(line) << line.error().text();
  EXPECT_TRUE(is_near(line->at(anchors[5].tsc), 10 * kSecond, 2));
  EXPECT_GE(line->bound_ns, 8'990u) << "the truth of that moment is not known better";
}

TEST(FitLine, LeadsFromTheRawClockToo) {
  const std::vector<Anchor> anchors = {ideal(0, 1e-5), ideal(10 * kSecond, 1e-5)};
  const Result<trace::ClockPiece> line = fit_line(anchors, Reading::MonotonicRaw, Reading::Wall);
  ASSERT_TRUE(line) << line.error().text();
  EXPECT_EQ(line->at(static_cast<uint64_t>(10 * kSecond)), kEpoch + 12 * kSecond + 50'000);
}

TEST(FitLine, ABoundTellsThatTheWallClockWasSet) {
  std::vector<Anchor> anchors;
  for (int i = 0; i <= 10; ++i) anchors.push_back(ideal(i * kSecond));
  for (int i = 6; i <= 10; ++i) anchors[static_cast<size_t>(i)].wall_ns += kSecond;
  const Result<trace::ClockPiece> line = fit_line(anchors, Reading::Tsc, Reading::Wall);
  ASSERT_TRUE(line) << line.error().text();
  EXPECT_GT(line->bound_ns, 200'000'000u);
}

TEST(FitLine, NeedsTwoAnchorsInOrder) {
  const std::vector<Anchor> one = {ideal(0)};
  EXPECT_FALSE(fit_line(one, Reading::Tsc, Reading::Wall));
  const std::vector<Anchor> twice = {ideal(0), ideal(0)};
  EXPECT_FALSE(fit_line(twice, Reading::Tsc, Reading::Wall));
  const std::vector<Anchor> back = {ideal(kSecond), ideal(0)};
  EXPECT_FALSE(fit_line(back, Reading::Tsc, Reading::Wall));
  EXPECT_FALSE(follow_wall(one, Reading::Tsc));
}

TEST(FollowWall, IsRightAtEveryAnchorOfASlewedClock) {
  std::vector<Anchor> anchors;
  for (int i = 0; i <= 20; ++i) anchors.push_back(ideal(i * kSecond, i < 10 ? 1e-5 : 3e-5));
  const Result<trace::ClockMap> map = follow_wall(anchors, Reading::Tsc);
  ASSERT_TRUE(map) << map.error().text();
  for (const Anchor& anchor : anchors) EXPECT_TRUE(is_near(map->at(anchor.tsc), anchor.wall_ns, 1));
  // Right before an anchor the piece before it serves, and has to arrive there.
  for (size_t i = 1; i < anchors.size(); ++i)
    EXPECT_TRUE(is_near(map->at(anchors[i].tsc - 1), anchors[i].wall_ns, 2));
  EXPECT_EQ(map->pieces().front().bound_ns, 20u);
  EXPECT_EQ(map->pieces().back().bound_ns, trace::kNoBound) << "beyond the last anchor";
}

TEST(FollowWall, AClockThatIsSetJumpsAtTheNextAnchor) {
  std::vector<Anchor> anchors;
  for (int i = 0; i <= 4; ++i) anchors.push_back(ideal(i * kSecond));
  anchors[3].wall_ns -= 30 * kSecond;
  anchors[4].wall_ns -= 30 * kSecond;
  const Result<trace::ClockMap> map = follow_wall(anchors, Reading::Tsc);
  ASSERT_TRUE(map) << map.error().text();
  ASSERT_EQ(map->pieces().size(), 5u);
  EXPECT_TRUE(
      is_near(map->at(anchors[3].tsc - cycles(kSecond / 2)), anchors[2].wall_ns + kSecond / 2, 2));
  EXPECT_EQ(map->at(anchors[3].tsc), anchors[3].wall_ns);
  EXPECT_EQ(map->pieces()[1].bound_ns, 20u);
  EXPECT_NEAR(static_cast<double>(map->pieces()[2].bound_ns), 30e9, 100);
  EXPECT_EQ(map->pieces()[3].bound_ns, 20u);
}

trace::ClockPiece exact_line() {
  const trace::Slope slope = trace::slope(kSecond, kFrequency);
  return {.t0 = kWeek, .u0 = kEpoch, .mult = slope.mult, .shift = slope.shift};
}

// As other programs compute it, in 64 bits.
uint64_t as_others_read(const Tsc2Nsec& option, uint64_t tsc) {
  const uint64_t low = (tsc & UINT32_MAX) * option.mult >> option.shift;
  const uint64_t high = (tsc >> 32) * option.mult << (32 - option.shift);
  return low + high + static_cast<uint64_t>(option.offset_ns);
}

TEST(Tsc2Nsec, IsExactAtTheAnchorAfterAWeekAndDriftsAsItSays) {
  const trace::ClockPiece line = exact_line();
  const Tsc2Nsec option = tsc2nsec(line, kWeek);
  EXPECT_LE(option.mult, uint32_t{INT32_MAX});
  EXPECT_LE(option.shift, 32u);
  EXPECT_EQ(as_others_read(option, kWeek), static_cast<uint64_t>(kEpoch));
  EXPECT_LE(std::fabs(option.drift), 2.4 * 1.2e-10);
  const auto off = static_cast<double>(
      static_cast<int64_t>(as_others_read(option, kWeek + cycles(kHour))) - (kEpoch + kHour));
  EXPECT_NEAR(off, option.drift * static_cast<double>(kHour), 2);
  // Without the offset the same slope would be off by this.
  EXPECT_GT(std::fabs(option.drift) * 7 * 24 * 3600e9, 1'000);
}

TEST(Tsc2Nsec, TakesCountersOfEveryFrequency) {
  for (const uint64_t frequency : {19'200'000ull, 999'999'999ull, 1'000'000'000ull,
                                   1'999'000'000ull, 2'000'000'000ull, 6'000'000'000ull}) {
    const trace::Slope slope = trace::slope(kSecond, frequency);
    const uint64_t at = frequency * 86'400;
    const trace::ClockPiece line{.t0 = at, .u0 = kEpoch, .mult = slope.mult, .shift = slope.shift};
    const Tsc2Nsec option = tsc2nsec(line, at);
    EXPECT_LE(option.mult, uint32_t{INT32_MAX});
    EXPECT_LE(option.shift, 32u);
    EXPECT_LE(std::fabs(option.drift), 1e-9) << frequency;
    EXPECT_NEAR(
        static_cast<double>(as_others_read(option, at + frequency) - static_cast<uint64_t>(kEpoch)),
        1e9, 2)
        << frequency;
  }
}

TEST(WholeHertz, IsExactAtTheAnchorAfterAWeek) {
  // 2'399'997'123.4 Hz
  const trace::Slope slope = trace::slope(uint64_t{kSecond} * 5, 11'999'985'617);
  const trace::ClockPiece line{.t0 = kWeek, .u0 = kEpoch, .mult = slope.mult, .shift = slope.shift};
  const WholeHertz hertz = whole_hertz(line, kWeek);
  EXPECT_EQ(hertz.frequency, kFrequency);
  EXPECT_LT(hertz.offset_cycles, hertz.frequency);
  const auto at = [&](uint64_t tsc) {
    return static_cast<int64_t>(Int128{hertz.offset_seconds} * kSecond +
                                (Int128{hertz.offset_cycles} + tsc) * kSecond / hertz.frequency);
  };
  EXPECT_TRUE(is_near(at(kWeek), kEpoch, 1));
  EXPECT_NEAR(hertz.drift, 0.4 / 2.4e9, 1e-12);
  const int64_t later = line.at(kWeek + 3600 * kFrequency);
  EXPECT_NEAR(static_cast<double>(at(kWeek + 3600 * kFrequency) - later), hertz.drift * 3.6e12, 2);
}

TEST(WholeHertz, AClockThatBeganBeforeTheEpochHasANegativeOffset) {
  const trace::ClockPiece line{.t0 = 0, .u0 = -1, .mult = 1, .shift = 0};
  const WholeHertz hertz = whole_hertz(line, 0);
  EXPECT_EQ(hertz.frequency, uint64_t{kSecond});
  EXPECT_EQ(hertz.offset_seconds, -1);
  EXPECT_EQ(hertz.offset_cycles, 999'999'999u);
}

}  // namespace
}  // namespace strata::clock
