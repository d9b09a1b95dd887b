// SPDX-License-Identifier: Apache-2.0
#include "trace/clock_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace strata::trace {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

ClockPiece piece(uint64_t t0, int64_t u0, uint64_t mult = 1, uint8_t shift = 0) {
  ClockPiece p;
  p.t0 = t0;
  p.u0 = u0;
  p.mult = mult;
  p.shift = shift;
  return p;
}

TEST(ClockPiece, IsALine) {
  // A counter of 2.4 GHz: 2^24 x 10/24 is 6990506.67.
  const ClockPiece p = piece(1'000'000, 5'000, 6'990'507, 24);
  EXPECT_EQ(p.at(1'000'000), 5'000);
  EXPECT_EQ(p.at(1'000'024), 5'010);
  // 2.4e9 x 6990507 / 2^24 = 1000000047.68
  EXPECT_EQ(p.at(2'400'000'000 + 1'000'000), 5'000 + 1'000'000'047);
}

TEST(ClockPiece, GoesBackBeyondItsStartRoundingDown) {
  const ClockPiece p = piece(100, 50, 1, 1);  // half as fast
  EXPECT_EQ(p.at(98), 49);
  EXPECT_EQ(p.at(99), 49) << "49.5, down";
  EXPECT_EQ(p.at(0), 0);
}

TEST(ClockPiece, RoundsAsAsked) {
  ClockPiece p = piece(0, 0, 3, 2);  // x 0.75
  EXPECT_EQ(p.at(3), 2) << "2.25";
  EXPECT_EQ(p.at(5), 3) << "3.75, down";
  p.rounding = 2;  // 2^(shift-1)
  EXPECT_EQ(p.at(3), 2);
  EXPECT_EQ(p.at(5), 4);
}

TEST(ClockPiece, ProductsBeyond64BitsAreExact) {
  // Thirty years of a 4 GHz counter, times a 31-bit mult: the product has 93 bits.
  const uint64_t t = 4'000'000'000ull * 86'400 * 365 * 30;
  EXPECT_EQ(piece(0, 0, 1'073'741'824, 32).at(t), static_cast<int64_t>(t / 4));
  EXPECT_EQ(piece(0, -7, (uint64_t{1} << 62) + 1, 62).at(uint64_t{1} << 62),
            (int64_t{1} << 62) + 1 - 7);
}

TEST(ClockPiece, WhatLeavesTheRangeStaysAtItsEnd) {
  constexpr uint64_t kLargestMult = (uint64_t{1} << 63) - 1;
  EXPECT_EQ(piece(0, 0).at(UINT64_MAX), kMax);
  EXPECT_EQ(piece(0, kMax).at(1), kMax);
  EXPECT_EQ(piece(1, kMin).at(0), kMin);
  EXPECT_EQ(piece(UINT64_MAX, 0).at(0), kMin);
  EXPECT_EQ(piece(0, kMax, kLargestMult, 0).at(UINT64_MAX), kMax);
  EXPECT_EQ(piece(UINT64_MAX, kMin, kLargestMult, 0).at(0), kMin);
  ClockPiece rounding = piece(0, kMax, kLargestMult, 63);
  rounding.rounding = uint64_t{1} << 62;
  EXPECT_EQ(rounding.at(UINT64_MAX), kMax);
}

TEST(ClockPiece, TheWholeRangeOfReadingsFitsWhenItIsCentred) {
  const ClockPiece p = piece(uint64_t{1} << 63, 0);
  EXPECT_EQ(p.at(0), kMin);
  EXPECT_EQ(p.at(UINT64_MAX), kMax);
}

TEST(ClockMap, IsTheIdentityByDefault) {
  const ClockMap map;
  EXPECT_TRUE(map.is_identity());
  for (uint64_t t : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40, uint64_t{kMax}})
    EXPECT_EQ(map.at(t), static_cast<int64_t>(t));
  EXPECT_FALSE(ClockMap({piece(0, 1)}).is_identity());
  EXPECT_FALSE(ClockMap({piece(0, 0, 2)}).is_identity());
}

TEST(ClockMap, EachPieceServesFromItsStartToTheNext) {
  const ClockMap map({piece(100, 1'000), piece(200, 5'000, 2), piece(300, 9'000)});
  EXPECT_EQ(map.at(100), 1'000);
  EXPECT_EQ(map.at(199), 1'099);
  EXPECT_EQ(map.at(200), 5'000);
  EXPECT_EQ(map.at(299), 5'198);
  EXPECT_EQ(map.at(300), 9'000);
  EXPECT_EQ(map.at(1'300), 10'000);
}

TEST(ClockMap, TheFirstPieceServesWhatLiesBeforeIt) {
  const ClockMap map({piece(100, 1'000, 2), piece(200, 5'000)});
  EXPECT_EQ(map.at(99), 998);
  EXPECT_EQ(map.at(0), 800);
}

TEST(ClockMap, SortsItsPieces) {
  const ClockMap map({piece(300, 9'000), piece(100, 1'000), piece(200, 5'000)});
  EXPECT_EQ(map.at(150), 1'050);
  EXPECT_EQ(map.at(250), 5'050);
  EXPECT_EQ(map.at(350), 9'050);
}

TEST(ClockMap, OfTwoPiecesThatBeginTogetherTheLaterCounts) {
  const ClockMap map({piece(0, 0), piece(100, 1'000), piece(100, 2'000), piece(200, 3'000)});
  EXPECT_EQ(map.at(99), 99);
  EXPECT_EQ(map.at(100), 2'000);
  EXPECT_EQ(map.at(199), 2'099);
}

TEST(ClockMap, SpansSayHowFarAPieceServes) {
  const ClockMap map({piece(100, 1), piece(200, 2), piece(300, 3)});
  EXPECT_EQ(map.span_at(50).piece->u0, 1);
  EXPECT_EQ(map.span_at(50).from, 0u) << "the first serves everything before it";
  EXPECT_EQ(map.span_at(150).until, 200u);
  EXPECT_EQ(map.span_at(200).from, 200u);
  EXPECT_EQ(map.span_at(200).until, 300u);
  EXPECT_EQ(map.span_at(UINT64_MAX).piece->u0, 3);
  EXPECT_EQ(map.span_at(UINT64_MAX).until, std::nullopt);
}

TEST(ClockMap, AGapIsMarkedAndTheLineGoesOn) {
  ClockPiece gap = piece(200, 1'100);
  gap.gap = true;
  const ClockMap map({piece(100, 1'000), gap, piece(300, 5'000)});
  EXPECT_FALSE(map.span_at(150).piece->gap);
  EXPECT_TRUE(map.span_at(250).piece->gap);
  EXPECT_EQ(map.at(250), 1'150);
  EXPECT_FALSE(map.span_at(300).piece->gap);
}

TEST(ClockMap, PiecesAtTheEndsOfTheRange) {
  const ClockMap map({piece(0, -5), piece(UINT64_MAX, 7)});
  EXPECT_EQ(map.at(0), -5);
  EXPECT_EQ(map.at(UINT64_MAX), 7);
  EXPECT_EQ(map.span_at(0).until, UINT64_MAX);
}

// mult / 2^shift against the fraction itself, in units of the last of 62 bits.
void expect_precise(uint64_t numerator, uint64_t denominator) {
  const Slope s = slope(numerator, denominator);
  ASSERT_LE(s.shift, 63) << numerator << "/" << denominator;
  const long double exact =
      static_cast<long double>(numerator) / static_cast<long double>(denominator);
  const long double got = static_cast<long double>(s.mult) / powl(2, s.shift);
  // One unit of mult's last place, or of 2^-63, which is all that a shift of 63 leaves.
  EXPECT_LE(fabsl(got - exact), std::max(exact * powl(2, -61), powl(2, -63)))
      << numerator << "/" << denominator << ": " << s.mult << " >> " << unsigned{s.shift};
  EXPECT_LT(s.mult, uint64_t{1} << 63) << "a product with 64 bits must fit 127";
}

TEST(Slope, IsAsPreciseAs63BitsAre) {
  expect_precise(1, 1);
  expect_precise(1, 3);
  expect_precise(2, 3);
  expect_precise(1'000'000'000, 2'399'998'765);
  expect_precise(999'999'999, 1'000'000'000);
  expect_precise(uint64_t{1} << 48, uint64_t{1} << 47);
  expect_precise((uint64_t{1} << 62) - 1, 1);
  expect_precise(1, uint64_t{1} << 62);
  expect_precise(UINT64_MAX, UINT64_MAX - 1);
  std::mt19937_64 random(3);
  for (int i = 0; i < 10'000; ++i)
    expect_precise((random() >> (2 + random() % 60)) + 1, (random() >> (random() % 60)) + 1);
}

TEST(Slope, PowersOfTwoAreExact) {
  for (unsigned n = 0; n < 62; ++n) {
    const Slope half = slope(1, uint64_t{1} << n);
    EXPECT_EQ(Int128{half.mult} << n, Int128{1} << half.shift) << n;
    const Slope twice = slope(uint64_t{1} << n, 1);
    EXPECT_EQ(Int128{twice.mult}, Int128{1} << (twice.shift + n)) << n;
  }
}

TEST(ClockReader, WithoutMapsReadingsAreNanoseconds) {
  ClockReader reader;
  EXPECT_EQ(reader.at(Ticks{0}).count, 0);
  EXPECT_EQ(reader.at(Ticks{123'456'789'012}).count, 123'456'789'012);
}

TEST(ClockReader, CrossesPiecesInBothDirections) {
  const ClockMap map({piece(100, 1'000), piece(200, 5'000, 2), piece(300, 9'000)});
  ClockReader reader({map});
  for (uint64_t t : {150, 250, 350, 250, 150, 350, 50, 300, 299, 200, 199, 100, 99, 0})
    EXPECT_EQ(reader.at(Ticks{t}).count, map.at(t)) << t;
  EXPECT_EQ(reader.at(Ticks{UINT64_MAX}).count, kMax);
  EXPECT_EQ(reader.at(Ticks{0}).count, 900);
}

TEST(ClockReader, FollowsAChainOfMaps) {
  // A guest's counter to its host's, and that to nanoseconds.
  const ClockMap host({piece(0, 1'000'000), piece(5'000, 2'000'000)});
  const ClockMap nanoseconds({piece(1'000'000, 77, 1, 1)});
  ClockReader reader({host, nanoseconds});
  EXPECT_EQ(reader.at(Ticks{0}).count, 77);
  EXPECT_EQ(reader.at(Ticks{100}).count, 127);
  EXPECT_EQ(reader.at(Ticks{5'000}).count, 77 + 500'000);
  EXPECT_EQ(reader.at(Ticks{100}).count, 127);
}

TEST(ClockReader, AReadingBelowZeroBetweenTwoMapsIsNotAHugeOne) {
  // The host booted after its guest's counter began: guest 500 is host -500.
  const ClockMap host({piece(1'000, 0)});
  const ClockMap nanoseconds({piece(0, 10'000, 2)});
  ClockReader reader({host, nanoseconds});
  EXPECT_EQ(reader.at(Ticks{1'500}).count, 11'000);
  EXPECT_EQ(reader.at(Ticks{500}).count, 9'000);
  EXPECT_EQ(reader.at(Ticks{1'500}).count, 11'000);
}

TEST(ClockReader, AReadingFarBelowZeroStaysAtTheEndOfTheRange) {
  constexpr uint64_t kLargestMult = (uint64_t{1} << 63) - 1;
  const ClockMap lowest({piece(UINT64_MAX, 0)});
  EXPECT_EQ(
      ClockReader({lowest, ClockMap({piece(UINT64_MAX, 0, kLargestMult, 0)})}).at(Ticks{0}).count,
      kMin);
  // -2^63 again, and 2^62 on: half way up.
  EXPECT_EQ(ClockReader({lowest, ClockMap({piece(0, int64_t{1} << 62, uint64_t{1} << 62, 62)})})
                .at(Ticks{0})
                .count,
            kMin / 2);
}

TEST(ClockReader, ThreeMapsInAChain) {
  ClockReader reader(
      {ClockMap({piece(0, 5)}), ClockMap({piece(0, 0, 3)}), ClockMap({piece(0, -1)})});
  EXPECT_EQ(reader.at(Ticks{10}).count, 44);
}

}  // namespace
}  // namespace strata::trace
