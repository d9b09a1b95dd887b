// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/clock_options.h"

#include <gtest/gtest.h>

#include <deque>
#include <limits>

#include "base/byte_writer.h"

namespace strata::tracedat {
namespace {

class ClockOptionsTest : public testing::Test {
 protected:
  void add(OptionId id, std::string_view text) { add(id, as_bytes(text)); }
  void add(OptionId id, Bytes bytes) {
    kept.emplace_back(bytes.begin(), bytes.end());
    layout.options.push_back({id, kept.back(), 1000});
  }
  void add_tsc(uint32_t mult, uint32_t shift, uint64_t offset = 0) {
    ByteWriter out(layout.target.order);
    out.u32(mult);
    out.u32(shift);
    out.u64(offset);
    add(OptionId::Tsc2Nsec, out.bytes());
  }
  void add_shift(const TimeShift& shift) {
    add(OptionId::TimeShift, encode_time_shift(shift, layout.target.order));
  }
  int64_t at(uint64_t ticks, uint32_t cpu = 0) {
    const ClockOptions options = read_clock_options(layout, "t.dat", problems);
    return trace::ClockReader(options.chain(cpu)).at(Ticks{ticks}).count;
  }
  Layout layout;
  std::deque<std::vector<std::byte>> kept;
  std::vector<Error> problems;
};

TEST_F(ClockOptionsTest, WithoutOptionsTimesStayAsTheyAre) {
  EXPECT_EQ(at(0), 0);
  EXPECT_EQ(at(123'456'789), 123'456'789);
  EXPECT_TRUE(problems.empty());
}

TEST_F(ClockOptionsTest, DateIsMicrosecondsInHexadecimal) {
  add(OptionId::Date, std::string_view("0x5d8\0", 6));  // 1496
  EXPECT_EQ(at(7), 1'496'007);
  EXPECT_TRUE(read_clock_options(layout, "t.dat", problems).has_date);
}

TEST_F(ClockOptionsTest, OffsetIsNanosecondsInDecimal) {
  add(OptionId::Offset, std::string_view("-1000\0", 6));
  EXPECT_EQ(at(7), -993);
  EXPECT_FALSE(read_clock_options(layout, "t.dat", problems).has_date);
}

TEST_F(ClockOptionsTest, AnOffsetMayLackItsNul) {
  add(OptionId::Offset, "1500");
  EXPECT_EQ(at(0), 1500);
}

TEST_F(ClockOptionsTest, DateAndOffsetAddUp) {
  add(OptionId::Date, std::string_view("0x1\0", 4));
  add(OptionId::Offset, std::string_view("5\0", 2));
  EXPECT_EQ(at(0), 1005);
}

TEST_F(ClockOptionsTest, TscBecomesNanoseconds) {
  add_tsc(5'368'709, 24, 999);  // 3.125 GHz; the offset is stored and applied by nobody
  // 3125000000 x 5368709 / 2^24 = 999999977.65
  EXPECT_EQ(at(3'125'000'000), 999'999'977);
  EXPECT_TRUE(problems.empty());
}

TEST_F(ClockOptionsTest, TscOfAMachineThatIsUpForYears) {
  // The product has 62 + 31 bits. 2^31 / 2^32 is a half, exactly.
  add_tsc(2'147'483'648, 32);
  EXPECT_EQ(at(uint64_t{1} << 62), int64_t{1} << 61);
  EXPECT_EQ(at((uint64_t{1} << 62) + 2), (int64_t{1} << 61) + 1);
}

TEST_F(ClockOptionsTest, TscAndOffset) {
  add_tsc(1, 1);
  add(OptionId::Offset, "100");
  EXPECT_EQ(at(50), 125);
}

TEST_F(ClockOptionsTest, OneSampleIsAnOffset) {
  add_shift({77, false, {{{1000, 500}}, {{1000, -400}}}});
  EXPECT_EQ(at(1000, 0), 1500);
  EXPECT_EQ(at(5000, 0), 5500);
  EXPECT_EQ(at(10, 0), 510) << "also before it";
  EXPECT_EQ(at(1000, 1), 600);
  EXPECT_EQ(at(1000, 2), 1000) << "nothing is said of this CPU";
}

TEST_F(ClockOptionsTest, OneSampleToInterpolateIsAnOffsetToo) {
  add_shift({77, true, {{{1000, 500}}}});
  EXPECT_EQ(at(5000), 5500);
}

TEST_F(ClockOptionsTest, WithoutInterpolationASampleHoldsUntilTheNext) {
  add_shift({77, false, {{{1000, 100}, {2000, 200}, {3000, 50}}}});
  EXPECT_EQ(at(500), 600) << "the first, also before it";
  EXPECT_EQ(at(1999), 2099);
  EXPECT_EQ(at(2000), 2200);
  EXPECT_EQ(at(2999), 3199);
  EXPECT_EQ(at(3000), 3050);
  EXPECT_EQ(at(9000), 9050);
}

TEST_F(ClockOptionsTest, WithInterpolationTheOffsetRisesFromSampleToSample) {
  add_shift({77, true, {{{1000, 100}, {2000, 200}, {3000, 600}}}});
  EXPECT_EQ(at(1000), 1100);
  EXPECT_EQ(at(1500), 1650);
  EXPECT_EQ(at(2000), 2200);
  EXPECT_EQ(at(2250), 2550);
  EXPECT_EQ(at(3000), 3600);
  EXPECT_EQ(at(3500), 4300) << "the last line goes on";
  EXPECT_EQ(at(500), 551) << "and the first one back; rounded as trace-cmd does, see below";
}

TEST_F(ClockOptionsTest, WithInterpolationTheOffsetFallsFromSampleToSample) {
  add_shift({77, true, {{{1000, 600}, {2000, 200}, {3000, 100}}}});
  // Rounded as trace-cmd does: half a nanosecond up, then cut off towards zero.
  EXPECT_EQ(at(1000), 1600);
  EXPECT_EQ(at(1500), 1901);
  EXPECT_EQ(at(2000), 2200);
  EXPECT_EQ(at(2500), 2651);
  EXPECT_EQ(at(3000), 3101);
  EXPECT_EQ(at(500), 1300) << "the first line goes back";
  EXPECT_EQ(at(0), 1000);
}

TEST_F(ClockOptionsTest, SamplesMayComeInAnyOrder) {
  add_shift({77, true, {{{3000, 600}, {1000, 100}, {2000, 200}}}});
  EXPECT_EQ(at(1500), 1650);
  EXPECT_EQ(at(2250), 2550);
}

TEST_F(ClockOptionsTest, AScaledGuestIsScaledBack) {
  // guest = offset' + host x 2^47 / 2^48, with offset' = -offset: the host's clock runs twice as
  // fast. trace-cmd overflows here, and multiplies where it ought to divide.
  const uint64_t half = uint64_t{1} << 47;
  add_shift({77, false, {{{0, 0, half, 48}}}});
  EXPECT_EQ(at(250'000'000), 500'000'000);
  EXPECT_EQ(at(uint64_t{1} << 60), int64_t{1} << 61);
}

TEST_F(ClockOptionsTest, AScaledGuestWithAnOffset) {
  // Ratio 3/2: host = (guest + offset) x 2 / 3.
  const uint64_t ratio = uint64_t{3} << 31;
  add_shift({77, false, {{{3000, -600, ratio, 32}}}});
  EXPECT_EQ(at(3000), 1600);
  EXPECT_EQ(at(6000), 3600);
  EXPECT_EQ(at(600), 0);
}

TEST_F(ClockOptionsTest, AScaleOfOneIsNone) {
  // 2^48 / 2^48 as the kernel tells it, and 1 as writers put it in its place.
  add_shift({77, false, {{{0, 5, uint64_t{1} << 48, 48}}, {{0, 5, 1, 0}}}});
  const uint64_t large = (uint64_t{1} << 61) + 1;
  EXPECT_EQ(at(large, 0), static_cast<int64_t>(large) + 5);
  EXPECT_EQ(at(large, 1), static_cast<int64_t>(large) + 5);
}

TEST_F(ClockOptionsTest, ShiftThenTscThenOffset) {
  add_shift({77, false, {{{0, 1000}}}});
  add_tsc(1, 1);
  add(OptionId::Offset, "7");
  EXPECT_EQ(at(500), 757);
}

TEST_F(ClockOptionsTest, AGuestsTimeBeforeItsHostBegan) {
  add_shift({77, false, {{{0, -1000}}}});
  add_tsc(1, 1);
  add(OptionId::Offset, "5000");
  EXPECT_EQ(at(500), 4750);
}

TEST_F(ClockOptionsTest, BigEndian) {
  layout.target.order = ByteOrder::Big;
  add_shift({77, true, {{{1000, 100}, {2000, 200}}}});
  add_tsc(3, 1);
  EXPECT_EQ(at(1500), 2475);
  EXPECT_TRUE(problems.empty());
}

TEST_F(ClockOptionsTest, TheShiftIsLaidOutAsTheFormatSays) {
  const TimeShift shift{0x1122334455667788, true, {{{10, -5, 3, 2}, {20, -6, 4, 3}}, {}}};
  ByteWriter out(ByteOrder::Little);
  out.u64(0x1122334455667788);  // the peer's trace
  out.u32(1);                   // flags: interpolate
  out.u32(2);                   // CPUs
  out.u32(2);                   // samples of the first
  for (int64_t n : {10, 20, -5, -6, 3, 4}) out.u64(static_cast<uint64_t>(n));
  out.u32(0);                                                  // samples of the second
  for (int64_t n : {2, 3}) out.u64(static_cast<uint64_t>(n));  // fractions, all CPUs
  EXPECT_EQ(encode_time_shift(shift, ByteOrder::Little), out.bytes());
  auto parsed = parse_time_shift({OptionId::TimeShift, out.bytes(), 0}, ByteOrder::Little, "t.dat");
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(*parsed, shift);
}

TEST_F(ClockOptionsTest, OlderWritersStoreNoFractions) {
  ByteWriter out(ByteOrder::Little);
  out.u64(1);
  out.u32(0);
  out.u32(1);
  out.u32(1);
  for (int64_t n : {10, -5, 1}) out.u64(static_cast<uint64_t>(n));
  add(OptionId::TimeShift, out.bytes());
  EXPECT_EQ(at(10), 5);
  EXPECT_TRUE(problems.empty());
}

TEST_F(ClockOptionsTest, WhatMakesNoSenseIsLeftOutAndTold) {
  add(OptionId::Offset, "some");
  add(OptionId::Date, "");
  add(OptionId::Date, "0x7fffffffffffffff");
  add_tsc(0, 1);
  add_tsc(1, 64);
  add(OptionId::Tsc2Nsec, "short");
  add_shift({1, false, {{{0, 5, 0, 0}}}});
  EXPECT_EQ(at(42), 42);
  EXPECT_EQ(problems.size(), 7u);
  for (const Error& problem : problems) {
    EXPECT_EQ(problem.file, "t.dat");
    EXPECT_TRUE(problem.offset.has_value());
    EXPECT_FALSE(problem.cause.empty());
  }
}

TEST_F(ClockOptionsTest, AShiftThatIsCutOffAnywhereIsTold) {
  const auto whole =
      encode_time_shift({1, true, {{{10, 1}, {20, 2}}, {{10, 1}}}}, ByteOrder::Little);
  const size_t without_fractions = whole.size() - 3 * 8;
  for (size_t size = 0; size < whole.size(); ++size) {
    auto parsed = parse_time_shift({OptionId::TimeShift, Bytes(whole).first(size), 50},
                                   ByteOrder::Little, "t.dat");
    EXPECT_EQ(static_cast<bool>(parsed), size == without_fractions) << size;
    if (!parsed) {
      EXPECT_EQ(parsed.error().file, "t.dat");
    }
  }
}

TEST_F(ClockOptionsTest, AHugeNumberOfSamplesTakesNoMemory) {
  ByteWriter out(ByteOrder::Little);
  out.u64(1);
  out.u32(0);
  out.u32(0xffffffff);
  out.u32(0xffffffff);
  EXPECT_FALSE(parse_time_shift({OptionId::TimeShift, out.bytes(), 0}, ByteOrder::Little, "t.dat"));
}

TEST_F(ClockOptionsTest, ExtremeSamplesStayInRange) {
  constexpr auto kMax = std::numeric_limits<int64_t>::max();
  constexpr auto kMin = std::numeric_limits<int64_t>::min();
  for (bool interpolate : {false, true})
    for (uint64_t scaling : {uint64_t{1}, uint64_t{1} << 62})
      for (const uint8_t fraction : {uint8_t{0}, uint8_t{62}}) {
        const std::vector<ShiftSample> samples = {{0, kMax, scaling, fraction},
                                                  {1, kMin, scaling, fraction},
                                                  {uint64_t{1} << 63, kMax, scaling, fraction},
                                                  {UINT64_MAX, kMax, scaling, fraction}};
        const trace::ClockMap map = shift_map(samples, interpolate);
        for (uint64_t t : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{1} << 63, UINT64_MAX})
          map.at(t);
      }
}

}  // namespace
}  // namespace strata::tracedat
