// SPDX-License-Identifier: Apache-2.0
//
// What sites write, as it arrives in a ring.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <strata/probe.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "collector.h"

STRATA_EVENT(fields, none, STRATA_INFO);
STRATA_EVENT(fields, numbers, STRATA_DEBUG, (u8, a), (s16, b), (u32, c), (s64, d), (f32, e),
             (f64, f), (enum, g, "idle=0,busy=1"));
STRATA_EVENT(fields, texts, STRATA_WARNING, (string, one), (string, two), (u32, behind));
STRATA_EVENT(fields, sequences, STRATA_INFO, (bytes, raw), (seq_u32, words), (u8, behind));
STRATA_SPAN_EVENT(fields, span, STRATA_INFO, (u32, result));
STRATA_COUNTER(fields, depth, STRATA_INFO, s64);

namespace strata::test {
namespace {

namespace abi = probe::abi;
using testing::ElementsAre;

constexpr uint32_t kOn = 0x10000;

enum class Mode : uint8_t { Idle, Busy };

class Fields : public testing::Test {
 protected:
  // What the child, with all sites on, wrote.
  std::vector<KeptRecord> run(const std::function<void()>& body) {
    const int status = in_child([&] {
      for (uint32_t* flag :
           {&strata_flag_fields__none, &strata_flag_fields__numbers, &strata_flag_fields__texts,
            &strata_flag_fields__sequences, &strata_flag_fields__span, &strata_flag_fields__depth})
        *flag = kOn;
      body();
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(collector_.attached(), 1u);
    kept_ = collector_.read();
    EXPECT_EQ(kept_.damaged, 0u);
    return kept_.all();
  }
  static std::string_view text(const KeptRecord& record, size_t at) {
    return reinterpret_cast<const char*>(record.payload.data() + at);
  }

  Collector collector_{small_layout(abi::Policy::Discard, true)};
  KeptRings kept_;
};

TEST_F(Fields, ASiteThatIsOffEvaluatesNothing) {
  int evaluated = 0;
  STRATA_TRACE(fields, texts, (++evaluated, "x"), "y", 1);
  STRATA_COUNT(fields, depth, ++evaluated);
  EXPECT_EQ(STRATA_SPAN_BEGIN(fields, span), 0u);
  EXPECT_FALSE(STRATA_ENABLED(fields, texts));
  EXPECT_EQ(evaluated, 0);
  EXPECT_EQ(collector_.attached(), 0u);
}

TEST_F(Fields, NumbersLieOneBehindTheOther) {
  const auto records = run([] {
    STRATA_TRACE(fields, none);
    STRATA_TRACE(fields, numbers, 200, -2, 3u, -4ll, 0.5f, 0.25, Mode::Busy);
  });
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].site, "fields:none");
  EXPECT_TRUE(records[0].payload.empty());
  const KeptRecord& numbers = records[1];
  EXPECT_EQ(numbers.site, "fields:numbers");
  EXPECT_GE(numbers.time, records[0].time);
  ASSERT_EQ(numbers.payload.size(), 31u);
  EXPECT_EQ(numbers.at<uint8_t>(0), 200);
  EXPECT_EQ(numbers.at<int16_t>(1), -2);
  EXPECT_EQ(numbers.at<uint32_t>(3), 3u);
  EXPECT_EQ(numbers.at<int64_t>(7), -4);
  EXPECT_EQ(numbers.at<float>(15), 0.5f);
  EXPECT_EQ(numbers.at<double>(19), 0.25);
  EXPECT_EQ(numbers.at<int32_t>(27), 1);
}

TEST_F(Fields, StringsOfEveryKindEndAtTheirNul) {
  const auto records = run([] {
    using namespace std::literals;
    STRATA_TRACE(fields, texts, "one", std::string("two"), 7);
    STRATA_TRACE(fields, texts, "cut\0off"sv, static_cast<const char*>(nullptr), 8);
    STRATA_TRACE(fields, texts, "", std::string_view(), 9);
  });
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(text(records[0], 0), "one");
  EXPECT_EQ(text(records[0], 4), "two");
  EXPECT_EQ(records[0].at<uint32_t>(8), 7u);
  EXPECT_EQ(text(records[1], 0), "cut");
  EXPECT_EQ(text(records[1], 4), "(null)");
  EXPECT_EQ(records[1].at<uint32_t>(11), 8u);
  EXPECT_EQ(records[2].payload.size(), 6u);
}

TEST_F(Fields, SequencesHaveACount) {
  const auto records = run([] {
    const std::vector<uint32_t> words = {1, 2, 3};
    const std::array<char, 2> raw = {'a', 'b'};
    STRATA_TRACE(fields, sequences, raw, words, 5);
    STRATA_TRACE(fields, sequences, strata_bytes(raw.data(), 1), strata_seq_u32(nullptr, 0), 6);
  });
  ASSERT_EQ(records.size(), 2u);
  const KeptRecord& both = records[0];
  ASSERT_EQ(both.payload.size(), 2u + 2 + 2 + 12 + 1);
  EXPECT_EQ(both.at<uint16_t>(0), 2);
  EXPECT_EQ(both.at<char>(3), 'b');
  EXPECT_EQ(both.at<uint16_t>(4), 3);
  EXPECT_EQ(both.at<uint32_t>(14), 3u);
  EXPECT_EQ(both.at<uint8_t>(18), 5);
  EXPECT_EQ(records[1].payload.size(), 3u + 2 + 1);
}

// Both fields, so that the second lies at every place in a word.
TEST_F(Fields, BytesOfEveryNumberArriveAsTheyWere) {
  constexpr uint32_t kMost = 300;
  std::string bytes;
  for (uint32_t i = 0; i < kMost; ++i) bytes += static_cast<char>('a' + i % 23);
  const auto records = run([&] {
    for (uint32_t size = 0; size < kMost; ++size)
      STRATA_TRACE(fields, texts, bytes.substr(0, size), bytes.substr(size), size);
  });
  ASSERT_EQ(records.size(), kMost);
  for (uint32_t size = 0; size < kMost; ++size) {
    EXPECT_EQ(text(records[size], 0), bytes.substr(0, size));
    EXPECT_EQ(text(records[size], size + 1), bytes.substr(size));
    EXPECT_EQ(records[size].at<uint32_t>(kMost + 2), size);
  }
}

TEST_F(Fields, WhatDoesNotFitIsCutAndMarked) {
  const auto records = run([] {
    const std::string large(10'000, 'x');
    STRATA_TRACE(fields, texts, large, "after", 7);
    STRATA_TRACE(fields, texts, std::string(4096 - 12 - 4 - 2, 'x'), "", 8);
    STRATA_TRACE(fields, sequences, large, std::vector<uint32_t>{1}, 9);
  });
  ASSERT_EQ(records.size(), 3u);
  EXPECT_TRUE(records[0].truncated);
  EXPECT_EQ(records[0].payload.size(), 4096u - 12);
  EXPECT_EQ(text(records[0], 0), std::string(4096 - 12 - 4 - 2, 'x'));
  EXPECT_EQ(records[0].at<uint32_t>(4096 - 12 - 4), 7u);
  EXPECT_FALSE(records[1].truncated);
  EXPECT_TRUE(records[2].truncated);
  EXPECT_EQ(records[2].at<uint8_t>(records[2].payload.size() - 1), 9);
}

TEST_F(Fields, ASpanHasItsBeginAndWhatIsKnownAtItsEnd) {
  const auto records = run([] {
    uint32_t result = 0;
    {
      STRATA_SPAN(fields, span, result);
      STRATA_TRACE(fields, none);
      result = 5;
    }
    STRATA_COUNT(fields, depth, -3);
  });
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].site, "fields:span");
  EXPECT_LE(records[1].at<uint64_t>(0), records[0].time);
  EXPECT_GE(records[1].time, records[0].time);
  EXPECT_EQ(records[1].at<uint32_t>(8), 5u);
  EXPECT_EQ(records[2].at<int64_t>(0), -3);
}

TEST(Sites, AreDescribedInTheProgram) {
  const Bytes section(reinterpret_cast<const std::byte*>(__start_strata_sites),
                      reinterpret_cast<const std::byte*>(__stop_strata_sites));
  Result<std::vector<collect::Site>> sites = collect::read_sites(
      section, reinterpret_cast<uint64_t>(__start_strata_sites), "this program");
  ASSERT_TRUE(sites) << sites.error().text();
  const collect::Site* numbers = nullptr;
  for (const collect::Site& site : *sites) {
    EXPECT_GE(site.flag, reinterpret_cast<uint64_t>(__start_strata_flags));
    EXPECT_LT(site.flag, reinterpret_cast<uint64_t>(__stop_strata_flags));
    if (site.provider == "fields" && site.name == "numbers") numbers = &site;
  }
  ASSERT_NE(numbers, nullptr);
  EXPECT_EQ(numbers->level, STRATA_DEBUG);
  EXPECT_EQ(numbers->kind, abi::SiteKind::Event);
  EXPECT_EQ(numbers->flag, reinterpret_cast<uint64_t>(&strata_flag_fields__numbers));
  ASSERT_EQ(numbers->fields.size(), 7u);
  EXPECT_EQ(numbers->fields[1].name, "b");
  EXPECT_EQ(numbers->fields[1].bytes, 2);
  EXPECT_TRUE(numbers->fields[1].is_signed);
  EXPECT_TRUE(numbers->fields[5].is_float);
  EXPECT_THAT(numbers->fields[6].labels, ElementsAre(std::pair("idle", 0), std::pair("busy", 1)));
}

}  // namespace
}  // namespace strata::test
