// SPDX-License-Identifier: Apache-2.0
#include "ftrace/ring_page_builder.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "ftrace/ring_page.h"
#include "support/ring_page_maker.h"

namespace strata::ftrace {
namespace {

using test::RingPageMaker;

class RingPageBuilderTest : public testing::TestWithParam<Target> {};

INSTANTIATE_TEST_SUITE_P(Kernels, RingPageBuilderTest,
                         testing::Values(Target{ByteOrder::Little, 8}, Target{ByteOrder::Little, 4},
                                         Target{ByteOrder::Big, 8}, Target{ByteOrder::Big, 4}));

TEST_P(RingPageBuilderTest, WritesWhatTheDefinitionSays) {
  const Target target = GetParam();
  RingPageBuilder builder(4096, target);
  EXPECT_TRUE(builder.empty());
  ASSERT_TRUE(builder.add(Ticks{1000}, as_bytes("1st!")));
  ASSERT_TRUE(builder.add(Ticks{1005}, as_bytes("second!!")));
  EXPECT_FALSE(builder.empty());
  const Bytes page = builder.finish();
  const auto expected = RingPageMaker(1000, target.order, target.long_size)
                            .data(0, as_bytes("1st!"))
                            .data(5, as_bytes("second!!"))
                            .page();
  EXPECT_EQ(as_text(page), as_text(expected));
  EXPECT_TRUE(builder.empty()) << "a new one is begun";
}

TEST_P(RingPageBuilderTest, MarksLossesAsTheDefinitionSays) {
  const Target target = GetParam();
  RingPageBuilder builder(4096, target);
  builder.mark_lost(77);
  ASSERT_TRUE(builder.add(Ticks{1}, as_bytes("here")));
  EXPECT_EQ(as_text(builder.finish()), as_text(RingPageMaker(1, target.order, target.long_size)
                                                   .data(0, as_bytes("here"))
                                                   .lost(77)
                                                   .page()));
  builder.mark_lost(std::nullopt);
  ASSERT_TRUE(builder.add(Ticks{1}, as_bytes("here")));
  EXPECT_EQ(as_text(builder.finish()), as_text(RingPageMaker(1, target.order, target.long_size)
                                                   .data(0, as_bytes("here"))
                                                   .lost()
                                                   .page()));
  ASSERT_TRUE(builder.add(Ticks{1}, as_bytes("here")));
  EXPECT_FALSE(RingPage(builder.finish(), target).lost()) << "a mark is for one page";
}

TEST_P(RingPageBuilderTest, AFullPageStillHasRoomForTheNumberLost) {
  const Target target = GetParam();
  for (bool known : {false, true}) {
    RingPageBuilder builder(4096, target);
    builder.mark_lost(known ? std::optional<uint64_t>(5) : std::nullopt);
    uint64_t records = 0;
    while (builder.add(Ticks{records}, as_bytes("four"))) ++records;
    EXPECT_GT(records, 500u);
    const Bytes page = builder.finish();
    ASSERT_EQ(page.size(), 4096u);
    RingPage reader(page, target);
    EXPECT_TRUE(reader.lost());
    EXPECT_EQ(reader.lost_count_known(), known);
    EXPECT_EQ(reader.lost_count(), known ? 5u : 0u);
    uint64_t read = 0;
    while (reader.next() == RingPage::Step::Record) ++read;
    EXPECT_EQ(read, records);
  }
}

TEST_P(RingPageBuilderTest, ARecordThatFitsNoPageIsRefused) {
  RingPageBuilder builder(4096, GetParam());
  EXPECT_FALSE(builder.add(Ticks{1}, std::vector<std::byte>(4096)));
  EXPECT_TRUE(builder.empty());
  EXPECT_TRUE(builder.add(Ticks{1}, std::vector<std::byte>(4000)));
}

TEST_P(RingPageBuilderTest, WhatIsAddedIsRead) {
  const Target target = GetParam();
  std::mt19937_64 random(5);
  for (uint32_t page_size : {4096u, 8192u, 65536u}) {
    RingPageBuilder builder(page_size, target);
    std::vector<std::pair<uint64_t, std::string>> added;
    uint64_t time = random() >> 8;
    auto check = [&] {
      const Bytes bytes = builder.finish();
      ASSERT_EQ(bytes.size(), page_size);
      RingPage page(bytes, target);
      for (const auto& [ticks, record] : added) {
        ASSERT_EQ(page.next(), RingPage::Step::Record);
        ASSERT_EQ(raw(page.ticks()), ticks);
        // Small records are rounded up to four bytes; only the kernel's own sizes come in here.
        ASSERT_EQ(as_text(page.record()), record);
      }
      ASSERT_EQ(page.next(), RingPage::Step::End);
      added.clear();
    };
    for (int i = 0; i < 3000; ++i) {
      // Steps of all sizes, now and then backwards: a clock may do that.
      time += random() >> (random() % 55 + 9);
      const uint64_t ticks = random() % 50 == 0 ? time - time / 1000 : time;
      const size_t length = (random() % 20 == 0 ? random() % 1000 : random() % 30) * 4 + 4;
      if (length > 3500) continue;
      const std::string record(length, static_cast<char>('a' + i % 26));
      if (!builder.add(Ticks{ticks}, as_bytes(record))) {
        ASSERT_NO_FATAL_FAILURE(check());
        ASSERT_TRUE(builder.add(Ticks{ticks}, as_bytes(record)));
      }
      added.emplace_back(ticks, record);
    }
    ASSERT_NO_FATAL_FAILURE(check());
  }
}

TEST_P(RingPageBuilderTest, ATimeThatNoRecordCanTellNeedsANewPage) {
  // Records of time have 59 bits: no longer step, and no way back once a time has more.
  for (const auto& [first, second] : {std::pair{uint64_t{1}, uint64_t{1} << 60},
                                      std::pair{uint64_t{1} << 60, uint64_t{1} << 59}}) {
    RingPageBuilder builder(4096, GetParam());
    ASSERT_TRUE(builder.add(Ticks{first}, as_bytes("here")));
    EXPECT_FALSE(builder.add(Ticks{second}, as_bytes("then")));
    builder.finish();
    ASSERT_TRUE(builder.add(Ticks{second}, as_bytes("then")));
    RingPage page(builder.finish(), GetParam());
    ASSERT_EQ(page.next(), RingPage::Step::Record);
    EXPECT_EQ(raw(page.ticks()), second);
  }
}

TEST_P(RingPageBuilderTest, TimesWithTheirTopBitsSet) {
  RingPageBuilder builder(4096, GetParam());
  const std::vector<uint64_t> times = {uint64_t{0x1f} << 59, (uint64_t{0x1f} << 59) + (1 << 28),
                                       UINT64_MAX};
  for (uint64_t time : times) ASSERT_TRUE(builder.add(Ticks{time}, as_bytes("here")));
  RingPage page(builder.finish(), GetParam());
  for (uint64_t time : times) {
    ASSERT_EQ(page.next(), RingPage::Step::Record);
    EXPECT_EQ(raw(page.ticks()), time);
  }
}

}  // namespace
}  // namespace strata::ftrace
