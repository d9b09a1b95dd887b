// SPDX-License-Identifier: Apache-2.0
#include "query/interval_table.h"

#include <gmock/gmock.h>

#include "history/writer.h"
#include "support/temporary_folder.h"

namespace strata::query {
namespace {

using history::Interval;

class IntervalWalkTest : public testing::Test {
 protected:
  // Of `count` intervals, the n-th from n * n on.
  history::History make(int64_t count) {
    const std::string path = folder_.file("history");
    Result<history::Writer> writer = history::Writer::create(path, 1);
    EXPECT_TRUE(writer);
    const history::Row row = writer->row("x");
    for (int64_t i = 0; i < count; ++i)
      writer->set(row, i * i, static_cast<history::State>(i % 7), static_cast<uint32_t>(i));
    EXPECT_TRUE(writer->finish(count * count));
    Result<history::History> history = history::History::open(path, 1);
    EXPECT_TRUE(history);
    return *std::move(history);
  }
  static std::vector<uint32_t> walk(history::History& history, int64_t begin, int64_t end) {
    IntervalWalk walk(history, 0, begin, end);
    std::vector<uint32_t> infos;
    for (;;) {
      const Result<const Interval*> interval = walk.next();
      EXPECT_TRUE(interval);
      if (*interval == nullptr) return infos;
      infos.push_back((*interval)->info);
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(IntervalWalkTest, EveryIntervalComesOnceWhateverThePieces) {
  constexpr uint32_t kCount = 30000;
  history::History history = make(kCount);
  const std::vector<uint32_t> all = walk(history, 0, int64_t{kCount} * kCount);
  ASSERT_EQ(all.size(), kCount);
  for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(all[i], i);
}

TEST_F(IntervalWalkTest, ThoseThatHaveAPartInTheRangeCome) {
  history::History history = make(100);
  EXPECT_THAT(walk(history, 10, 30), testing::ElementsAre(3, 4, 5));
  EXPECT_THAT(walk(history, 16, 17), testing::ElementsAre(4));
  EXPECT_THAT(walk(history, -100, 1), testing::ElementsAre(0));
  EXPECT_THAT(walk(history, 100 * 100, 100 * 100 + 5), testing::IsEmpty());
  EXPECT_THAT(walk(history, 30, 10), testing::IsEmpty());
}

// States: 0 unknown, 1 outside, 2 begins, 3 within.
RunOfIntervals::Part part_of(const Interval& interval) {
  using Part = RunOfIntervals::Part;
  constexpr Part kParts[] = {Part::Unknown, Part::Outside, Part::Begins, Part::Within};
  return kParts[interval.state];
}

// The runs in intervals of 10 ns each, in these states: "begin-end".
std::vector<std::string> runs_in(const std::vector<history::State>& states) {
  RunOfIntervals shape(part_of);
  std::vector<std::string> runs;
  int64_t time = 0;
  for (const history::State state : states) {
    Span span;
    if (shape.add({time, time + 10, state, 0}, span))
      runs.push_back(std::to_string(span.begin) + "-" + std::to_string(span.end));
    time += 10;
  }
  return runs;
}

TEST(RunOfIntervals, ARunIsWhatIsBetween) {
  EXPECT_THAT(runs_in({1, 2, 3, 2, 3, 1, 2, 1}), testing::ElementsAre("10-50", "60-70"));
}

TEST(RunOfIntervals, WhatBeganBeforeIsNone) {
  EXPECT_THAT(runs_in({2, 3, 1, 2, 1}), testing::ElementsAre("30-40"));
  EXPECT_THAT(runs_in({1, 3, 1, 2, 1}), testing::ElementsAre("30-40"));
  EXPECT_THAT(runs_in({1, 3, 2, 1, 2, 1}), testing::ElementsAre("40-50"));
}

TEST(RunOfIntervals, WhatIsNotKnownToEndIsNone) {
  EXPECT_THAT(runs_in({1, 2, 0, 2, 1}), testing::ElementsAre("30-40"));
  EXPECT_THAT(runs_in({1, 2, 3}), testing::IsEmpty());
}

TEST(RunOfIntervals, TimesAreAddedUpByState) {
  RunOfIntervals shape(part_of);
  Span span;
  shape.add({0, 10, 1, 0}, span);
  shape.add({10, 15, 2, 9}, span);
  shape.add({15, 35, 3, 0}, span);
  shape.add({35, 36, 2, 9}, span);
  ASSERT_TRUE(shape.add({36, 50, 1, 0}, span));
  EXPECT_EQ(span.info, 9u);
  EXPECT_EQ(span.ns[2], 6u);
  EXPECT_EQ(span.ns[3], 20u);
}

}  // namespace
}  // namespace strata::query
