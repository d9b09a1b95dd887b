// SPDX-License-Identifier: Apache-2.0
#include "clock/kvm_clock.h"

#include <gmock/gmock.h>

#include <random>
#include <vector>

namespace strata::clock {
namespace {

using testing::SizeIs;

constexpr double kNsPerTick = 0.4;  // 2.5 GHz

CounterShift by(int64_t offset) { return {static_cast<uint64_t>(offset), 1, 0}; }

TEST(GuestCounter, IsTheHostsAndAnOffset) {
  const std::vector<CounterChange> changes = {{1'000'000, 0, by(-900'000)}};
  const std::vector<trace::ClockMap> maps = guest_maps(changes, kNsPerTick);
  ASSERT_THAT(maps, SizeIs(1));
  EXPECT_EQ(maps[0].at(100'000), 1'000'000);
  EXPECT_EQ(maps[0].at(5'000'000'000), 5'000'900'000);
  EXPECT_EQ(maps[0].pieces()[0].bound_ns, 0u);
  EXPECT_FALSE(maps[0].pieces()[0].gap);
}

// KVM's own formula, as the kernel computes it (mul_u64_u64_shr), against the map's way back.
TEST(GuestCounter, WithAnotherRateIsFoundToATickOfBoth) {
  std::mt19937_64 random(1);
  for (const uint8_t bits : {uint8_t{32}, uint8_t{48}}) {  // of Intel's processors 48, of AMD's 32
    for (double rate : {0.1, 0.7314159, 1.0000001, 3.9}) {
      const CounterShift shift{
          random(), static_cast<uint64_t>(rate * static_cast<double>(uint64_t{1} << bits)), bits};
      const uint64_t begin = random() >> 8;
      const std::vector<CounterChange> changes = {{begin, 0, shift}};
      // A counter that would pass its end meanwhile is no case for a map.
      if (shift.guest(begin) > UINT64_MAX / 2) continue;
      const std::vector<trace::ClockMap> maps = guest_maps(changes, kNsPerTick);
      ASSERT_THAT(maps, SizeIs(1));
      for (int i = 0; i < 1000; ++i) {
        const uint64_t host = begin + (random() >> 14);  // five days
        const int64_t found = maps[0].at(shift.guest(host));
        const double ticks = std::abs(static_cast<double>(found - static_cast<int64_t>(host)));
        ASSERT_LE(ticks, 1 + 1 / rate) << "rate " << rate << ", " << int{bits} << " bits";
        ASSERT_LE(ticks * kNsPerTick, static_cast<double>(maps[0].pieces()[0].bound_ns));
      }
    }
  }
}

TEST(GuestCounter, OfAGuestThatWasStoppedGoesOnWhereItStood) {
  // Stopped at the host's 2'000, set to go on with that reading at 5'000.
  const std::vector<CounterChange> changes = {{1'000, 0, by(-1'000)}, {5'000, 0, by(-4'000)}};
  const std::vector<trace::ClockMap> maps = guest_maps(changes, kNsPerTick);
  ASSERT_THAT(maps, SizeIs(1));
  EXPECT_EQ(maps[0].at(999), 1'999);
  EXPECT_EQ(maps[0].at(1'000), 5'000);
  EXPECT_EQ(maps[0].at(1'001), 5'001);
}

TEST(GuestCounter, ThatWasSetForwardHasAGapOfReadingsThatNeverWere) {
  const std::vector<CounterChange> changes = {{1'000, 0, by(0)}, {2'000, 0, by(500)}};
  const std::vector<trace::ClockMap> maps = guest_maps(changes, kNsPerTick);
  ASSERT_THAT(maps, SizeIs(1));
  ASSERT_THAT(maps[0].pieces(), SizeIs(3));
  EXPECT_EQ(maps[0].at(1'999), 1'999);
  EXPECT_TRUE(maps[0].span_at(2'000).piece->gap);
  EXPECT_TRUE(maps[0].span_at(2'499).piece->gap);
  EXPECT_FALSE(maps[0].span_at(2'500).piece->gap);
  EXPECT_EQ(maps[0].at(2'500), 2'000);
}

TEST(GuestCounter, ThatRepeatsItsReadingsBeginsASegment) {
  const std::vector<CounterChange> changes = {
      {1'000, 0, by(-500)}, {9'000, 0, by(-9'000)}, {20'000, 0, by(-10'000), true}};
  const std::vector<trace::ClockMap> maps = guest_maps(changes, kNsPerTick);
  ASSERT_THAT(maps, SizeIs(3));
  EXPECT_EQ(maps[0].segment, 0u);
  EXPECT_EQ(maps[0].at(600), 1'100);
  EXPECT_EQ(maps[1].segment, 1u);
  EXPECT_EQ(maps[1].at(600), 9'600) << "set back behind all that it was: a reboot";
  EXPECT_EQ(maps[2].segment, 2u);
  EXPECT_EQ(maps[2].at(10'600), 20'600) << "set back to what it was before: told";
}

TEST(GuestCounter, HasABoundWhileItsProcessorsAreNotSetAlike) {
  const std::vector<CounterChange> changes = {
      {1'000, 0, by(-500)}, {1'000, 1, by(-500)}, {3'000, 1, by(-1'000)}, {3'400, 0, by(-1'000)}};
  const std::vector<trace::ClockMap> maps = guest_maps(changes, kNsPerTick);
  ASSERT_THAT(maps, SizeIs(1));
  EXPECT_EQ(maps[0].span_at(600).piece->bound_ns, 0u);
  // 500 ticks of 0.4 ns; then the first is set back too, to 2'400 at 3'400, so that what it showed
  // from 2'400 on was a reading of a while in which they were not alike.
  EXPECT_EQ(maps[0].span_at(2'450).piece->bound_ns, 0u);
  EXPECT_EQ(maps[0].at(2'450), 3'450);
  const std::vector<trace::ClockMap> meanwhile =
      guest_maps(std::span(changes).first(3), kNsPerTick);
  EXPECT_EQ(meanwhile[0].span_at(2'550).piece->bound_ns, 200u);
  EXPECT_EQ(meanwhile[0].at(2'550), 3'050) << "the lowest one's";
}

TEST(GuestCounter, OfOddNumbersIsNotTaken) {
  const std::vector<CounterChange> changes = {{1, 0, {0, 0, 0}}, {2, 0, {0, 1, 63}}};
  EXPECT_THAT(guest_maps(changes, kNsPerTick), SizeIs(0));
  EXPECT_THAT(guest_maps({}, kNsPerTick), SizeIs(0));
}

TEST(GuestCounter, WrittenManyTimesHasOnePieceForEach) {
  std::vector<CounterChange> changes;
  for (int i = 0; i < 13'773; ++i)
    changes.push_back({static_cast<uint64_t>(i) * 1'000, 0, by(i % 2 == 0 ? 7 : 3)});
  const std::vector<trace::ClockMap> maps = guest_maps(changes, kNsPerTick);
  ASSERT_THAT(maps, SizeIs(1));
  for (uint64_t i = 1; i < 13'773; ++i) {
    const uint64_t host = i * 1'000 + 500;
    ASSERT_EQ(maps[0].at(host + (i % 2 == 0 ? 7 : 3)), static_cast<int64_t>(host)) << i;
  }
}

}  // namespace
}  // namespace strata::clock
