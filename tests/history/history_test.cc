// SPDX-License-Identifier: Apache-2.0
#include "history/history.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "support/temporary_folder.h"
#include "told_rows.h"

namespace strata::history {
namespace {

using testing::HasSubstr;

constexpr uint64_t kSource = 42;

std::vector<Interval> intervals_of(History& history, Row row, int64_t begin, int64_t end) {
  std::vector<Interval> found;
  const Status status =
      history.each(row, begin, end, [&](const Interval& interval) { found.push_back(interval); });
  EXPECT_TRUE(status);
  return found;
}

StateTimes times_within(const std::vector<Interval>& intervals, int64_t begin, int64_t end) {
  StateTimes times;
  for (const Interval& interval : intervals) {
    const int64_t ns = std::min(interval.end, end) - std::max(interval.begin, begin);
    if (ns > 0) times.ns[interval.state] += static_cast<uint64_t>(ns);
  }
  return times;
}

class HistoryTest : public testing::Test {
 protected:
  Writer make_writer(size_t most_open = Writer::kMostOpen) {
    Result<Writer> writer = Writer::create(path_, kSource, most_open);
    EXPECT_TRUE(writer) << writer.error().text();
    return std::move(*writer);
  }
  History open() {
    Result<History> history = History::open(path_, kSource);
    EXPECT_TRUE(history) << history.error().text();
    return std::move(*history);
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("history");
};

TEST_F(HistoryTest, ARowIsInAStateUntilItIsInAnother) {
  Writer writer = make_writer();
  const Row cpu = writer.row("cpu 0");
  writer.set(cpu, 100, 1, 7);
  writer.set(cpu, 150, 2);
  writer.set(cpu, 160, 2);  // nothing new
  ASSERT_TRUE(writer.finish(200));
  History history = open();
  ASSERT_EQ(history.find("cpu 0"), cpu);
  EXPECT_EQ(history.begin(), 100);
  EXPECT_EQ(history.end(), 200);
  EXPECT_TRUE(history.is_complete());
  EXPECT_THAT(intervals_of(history, cpu, 0, 1000),
              testing::ElementsAre(Interval{100, 150, 1, 7}, Interval{150, 200, 2, 0}));
  EXPECT_EQ(*history.at(cpu, 99), std::nullopt);
  EXPECT_EQ(*history.at(cpu, 149), (Interval{100, 150, 1, 7}));
  EXPECT_EQ(*history.at(cpu, 150), (Interval{150, 200, 2, 0}));
  EXPECT_EQ(*history.at(cpu, 200), std::nullopt);
}

TEST_F(HistoryTest, OfSeveralStatesAtOneTimeTheLastHolds) {
  Writer writer = make_writer();
  const Row row = writer.row("task");
  writer.set(row, 100, 1);
  writer.set(row, 100, 2);
  writer.set(row, 90, 3);  // back in time: counts as the last one
  writer.set(row, 110, 4);
  ASSERT_TRUE(writer.finish(120));
  History history = open();
  EXPECT_THAT(intervals_of(history, row, 0, 1000),
              testing::ElementsAre(Interval{100, 110, 3, 0}, Interval{110, 120, 4, 0}));
}

TEST_F(HistoryTest, ARowThatWasNeverSetHasNothing) {
  Writer writer = make_writer();
  const Row row = writer.row("quiet");
  ASSERT_TRUE(writer.finish(10));
  History history = open();
  EXPECT_THAT(intervals_of(history, row, 0, 1000), testing::IsEmpty());
  EXPECT_EQ(*history.times(row, 0, 10), StateTimes());
}

TEST_F(HistoryTest, AnythingThatWasToldCanBeAsked) {
  std::mt19937_64 random(1);
  Writer writer = make_writer();
  ToldRows told(writer);
  told.set_at_random(random, 5, 60'000, 1000);
  ASSERT_TRUE(writer.finish(told.now() + 10));
  History history = open();
  const auto rows = told.until(told.now() + 10);
  ASSERT_EQ(history.rows(), rows.size());
  for (const auto& [key, expected] : rows) {
    const Row row = *history.find(key);
    EXPECT_EQ(intervals_of(history, row, INT64_MIN, INT64_MAX), expected);
    for (int i = 0; i < 200; ++i) {
      const auto length = static_cast<uint64_t>(told.now());
      int64_t begin = static_cast<int64_t>(random() % length);
      int64_t end = static_cast<int64_t>(random() % length);
      if (begin > end) std::swap(begin, end);
      ASSERT_EQ(*history.times(row, begin, end), times_within(expected, begin, end));
      const auto at = std::ranges::find_if(expected, [&](const Interval& interval) {
        return interval.begin <= begin && begin < interval.end;
      });
      ASSERT_EQ(*history.at(row, begin), at != expected.end() ? std::optional(*at) : std::nullopt);
    }
  }
}

TEST_F(HistoryTest, NothingIsTooLongTooLargeOrTooVaried) {
  std::mt19937_64 random(7);
  Writer writer = make_writer();
  ToldRows told(writer);
  int64_t time = INT64_MIN;
  for (int i = 0; i < 6000; ++i) {
    // Of every length up to an hour, and two of hundreds of years.
    const unsigned bits = i == 500 ? 62 : i == 501 ? 61 : static_cast<unsigned>(random() % 42);
    told.set("row", time, static_cast<State>(random() % kStates),
             static_cast<uint32_t>(random()) >> random() % 32);
    time += static_cast<int64_t>((random() | uint64_t{1} << 63) >> (63 - bits));
  }
  ASSERT_TRUE(writer.finish(time));
  History history = open();
  EXPECT_EQ(intervals_of(history, 0, INT64_MIN, INT64_MAX), told.until(time).at("row"));
}

TEST_F(HistoryTest, WhatIsNotFinishedShowsAllThatCameBefore) {
  std::mt19937_64 random(2);
  Writer writer = make_writer();
  ToldRows told(writer);
  for (int checkpoint = 0; checkpoint < 5; ++checkpoint) {
    told.set_at_random(random, 3 + static_cast<size_t>(checkpoint), 5000, 1000);
    ASSERT_TRUE(writer.checkpoint(told.now()));
    History history = open();
    EXPECT_FALSE(history.is_complete());
    for (const auto& [key, expected] : told.until(told.now()))
      ASSERT_EQ(intervals_of(history, *history.find(key), INT64_MIN, INT64_MAX), expected);
  }
}

TEST_F(HistoryTest, APixelHasTheStateThatHoldsMostOfIt) {
  Writer writer = make_writer();
  const Row row = writer.row("task");
  writer.set(row, 0, 1);
  writer.set(row, 150, 2);
  writer.set(row, 160, 3);
  ASSERT_TRUE(writer.finish(400));
  History history = open();
  std::vector<Pixel> pixels(5);
  ASSERT_TRUE(history.pixels(row, 0, 500, {}, pixels));
  EXPECT_THAT(pixels, testing::ElementsAre(Pixel{1, 255}, Pixel{1, 128}, Pixel{3, 255},
                                           Pixel{3, 255}, Pixel{0, 0}));
  Weights weights;
  weights.of[2] = 10;  // must not be overlooked
  ASSERT_TRUE(history.pixels(row, 0, 500, weights, pixels));
  EXPECT_EQ(pixels[1], (Pixel{2, 26}));
}

TEST_F(HistoryTest, PixelsMayBeShorterThanANanosecond) {
  Writer writer = make_writer();
  const Row row = writer.row("task");
  writer.set(row, 0, 1);
  writer.set(row, 2, 2);
  ASSERT_TRUE(writer.finish(3));
  History history = open();
  std::vector<Pixel> pixels(8);
  ASSERT_TRUE(history.pixels(row, 0, 4, {}, pixels));
  EXPECT_THAT(pixels,
              testing::ElementsAre(Pixel{1, 255}, Pixel{1, 255}, Pixel{1, 255}, Pixel{1, 255},
                                   Pixel{2, 255}, Pixel{2, 255}, Pixel{}, Pixel{}));
}

TEST_F(HistoryTest, PixelsAreRightAtEveryDistance) {
  std::mt19937_64 random(3);
  Writer writer = make_writer();
  ToldRows told(writer);
  told.set_at_random(random, 2, 40'000, 1000);
  ASSERT_TRUE(writer.finish(told.now() + 1));
  History history = open();
  for (const auto& [key, expected] : told.until(told.now() + 1)) {
    for (int64_t length = told.now(); length > 1000; length /= 3) {
      const int64_t begin = told.now() - length;
      std::vector<Pixel> pixels(200);
      ASSERT_TRUE(history.pixels(*history.find(key), begin, begin + length, {}, pixels));
      const double width = static_cast<double>(length) / 200;
      for (size_t i = 0; i < pixels.size(); ++i) {
        const auto from = begin + static_cast<int64_t>(width * static_cast<double>(i));
        const auto to = begin + static_cast<int64_t>(width * static_cast<double>(i + 1));
        const StateTimes times = times_within(expected, from, to);
        if (times.sum() == 0) continue;
        // What lies across an edge is divided evenly: a neighbour's time may be here.
        const double most = static_cast<double>(*std::ranges::max_element(times.ns));
        const double shown = static_cast<double>(times.ns[pixels[i].state]);
        ASSERT_GE(shown, most - width * 0.75 - 2) << key << " " << length << " pixel " << i;
      }
    }
  }
}

TEST_F(HistoryTest, ManyRowsTakeNoMoreMemoryThanAllowedAndStillTellAll) {
  constexpr size_t kMost = size_t{2} << 20;
  std::mt19937_64 random(4);
  Writer writer = make_writer(kMost);
  ToldRows told(writer);
  for (int i = 0; i < 100; ++i) {
    told.set_at_random(random, 20'000, 2'000, 1000);
    EXPECT_LE(writer.open_bytes(), kMost);
  }
  ASSERT_TRUE(writer.finish(told.now()));
  History history = open();
  const auto rows = told.until(told.now());
  EXPECT_EQ(history.rows(), rows.size());
  for (const auto& [key, expected] : rows)
    ASSERT_EQ(intervals_of(history, *history.find(key), INT64_MIN, INT64_MAX), expected);
}

TEST_F(HistoryTest, AnotherSourceIsRefused) {
  Writer writer = make_writer();
  ASSERT_TRUE(writer.finish(1));
  const Result<History> history = History::open(path_, kSource + 1);
  ASSERT_FALSE(history);
  EXPECT_THAT(history.error().text(), HasSubstr("something else"));
}

TEST_F(HistoryTest, WhatWasCutEndsWithItsLastCheckpoint) {
  std::mt19937_64 random(5);
  Writer writer = make_writer();
  ToldRows told(writer);
  told.set_at_random(random, 2, 200, 1000);
  const int64_t checkpoint = told.now();
  ASSERT_TRUE(writer.checkpoint(checkpoint));
  const size_t first = test::read_whole_file(path_).size();
  told.set_at_random(random, 2, 200, 1000);
  ASSERT_TRUE(writer.finish(told.now()));
  const std::string whole = test::read_whole_file(path_);
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = folder_.write("cut", std::string_view(whole).substr(0, size));
    const Result<History> history = History::open(cut, kSource);
    ASSERT_EQ(static_cast<bool>(history), size >= first) << size;
    if (!history) continue;
    EXPECT_FALSE(history->is_complete());
    EXPECT_EQ(history->end(), checkpoint);
  }
}

TEST_F(HistoryTest, WhatWasChangedIsNoticedOrHarmless) {
  std::mt19937_64 random(6);
  Writer writer = make_writer();
  ToldRows told(writer);
  told.set_at_random(random, 2, 500, 1000);
  ASSERT_TRUE(writer.finish(told.now()));
  const std::string whole = test::read_whole_file(path_);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    Result<History> history = History::open(folder_.write("changed", changed), kSource);
    if (!history) continue;
    for (Row row = 0; row < history->rows(); ++row) {
      (void)history->each(row, INT64_MIN, INT64_MAX, [](const Interval&) {});
      std::vector<Pixel> pixels(3);
      (void)history->pixels(row, history->begin(), history->end(), {}, pixels);
    }
  }
}

}  // namespace
}  // namespace strata::history
