// SPDX-License-Identifier: Apache-2.0
#include "kernel/ring_stats.h"

#include <gtest/gtest.h>

namespace strata::kernel {
namespace {

// As Linux 6.18 shows it.
constexpr std::string_view kStats =
    "entries: 129\n"
    "overrun: 7\n"
    "commit overrun: 2\n"
    "bytes: 5604\n"
    "oldest event ts:  3012.747746\n"
    "now ts:  3013.001122\n"
    "dropped events: 11\n"
    "read events: 1000\n";

TEST(RingStats, EventsAreThoseInTheRingAndThoseTakenOut) {
  const RingStats stats = parse_ring_stats(kStats);
  EXPECT_EQ(stats.events(), 1129u);
  EXPECT_EQ(stats.bytes, 5604u);
}

TEST(RingStats, EveryKindOfLossCounts) { EXPECT_EQ(parse_ring_stats(kStats).lost(), 20u); }

TEST(RingStats, TheOldestEventsTimeIsInNanosecondsOrWhatTheClockCounts) {
  EXPECT_EQ(parse_ring_stats(kStats).oldest, Ticks{3'012'747'746'000});
  EXPECT_EQ(parse_ring_stats("oldest event ts: 16677517057070\n").oldest, Ticks{16677517057070});
  for (const char* text : {"oldest event ts: \n", "oldest event ts: 12.\n", "oldest event ts: x\n",
                           "oldest event ts: 12.5\n", "entries: 1\n"})
    EXPECT_EQ(parse_ring_stats(text).oldest, std::nullopt) << text;
}

TEST(RingStats, WhatIsNotKnownIsPassedOver) {
  for (size_t end = 0; end < kStats.size(); ++end)
    EXPECT_LE(parse_ring_stats(kStats.substr(0, end)).events(), 1129u);
  EXPECT_EQ(parse_ring_stats("entries: many\nread events\n: 5\nentries:7\n").events(), 0u);
}

}  // namespace
}  // namespace strata::kernel
