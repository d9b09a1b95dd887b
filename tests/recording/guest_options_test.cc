// SPDX-License-Identifier: Apache-2.0
#include "recording/guest_options.h"

#include <gmock/gmock.h>

#include "format/tracedat/guest_option.h"

namespace strata::recording {
namespace {

// What a reader makes of the samples, against what the map says.
void expect_same(const trace::ClockMap& map, uint64_t time) {
  const trace::ClockMap read = tracedat::shift_map(shift_samples(map), true);
  EXPECT_LE(std::abs(read.at(time) - map.at(time)), 1) << time;
}

TEST(ShiftSamples, LeadWhereTheMapDoes) {
  // As fast as the host; then, after a jump, one part in a million faster.
  const trace::Slope faster = trace::slope(1'000'001, 1'000'000);
  const trace::ClockMap map({{.t0 = 1'000'000, .u0 = 5'000'000'000},
                             {.t0 = 9'000'000'000,
                              .u0 = 14'000'000'000,
                              .mult = faster.mult,
                              .shift = faster.shift,
                              .rounding = uint64_t{1} << (faster.shift - 1)}});
  for (const uint64_t time : {uint64_t{1'000'000}, uint64_t{8'999'000'000}, uint64_t{9'000'000'000},
                              uint64_t{12'345'678'901}, uint64_t{70'000'000'000}})
    expect_same(map, time);
}

TEST(ShiftSamples, AreNearEnoughForReadersThatMultiplyIn64Bits) {
  const trace::Slope drifting = trace::slope(10'001, 10'000);
  std::vector<trace::ClockPiece> pieces;
  for (uint64_t i = 0; i < 3; ++i)
    pieces.push_back({.t0 = i << 40,
                      .u0 = static_cast<int64_t>((i << 40) + (i << 40) / 10'000),
                      .mult = drifting.mult,
                      .shift = drifting.shift});
  const auto samples = shift_samples(trace::ClockMap(pieces));
  ASSERT_GT(samples.size(), 4u);
  for (size_t i = 0; i + 1 < samples.size(); ++i) {
    const Int128 run = Int128{samples[i + 1].time} - samples[i].time;
    const Int128 rise = Int128{samples[i + 1].offset} - samples[i].offset;
    EXPECT_LT(run * rise, Int128{INT64_MAX}) << i;
  }
}

TEST(ShiftSamples, AreBoundedHoweverLongARecordingIs) {
  const trace::ClockMap map({{.t0 = 0, .u0 = 0}, {.t0 = uint64_t{1} << 62, .u0 = 1}});
  EXPECT_LT(shift_samples(map).size(), 5000u);
}

TEST(GuestOption, ComesBackAsItWasWritten) {
  const trace::GuestInfo guest{"web1", 0x1234567890abcdef, {Tid{4711}, kNoTid, Tid{4713}}};
  const std::vector<std::byte> bytes = tracedat::encode_guest(guest, kNativeOrder);
  const trace::GuestInfo read = tracedat::read_guest(bytes, kNativeOrder);
  EXPECT_EQ(read.name, guest.name);
  EXPECT_EQ(read.trace_id, guest.trace_id);
  EXPECT_EQ(read.vcpus, guest.vcpus);
}

}  // namespace
}  // namespace strata::recording
