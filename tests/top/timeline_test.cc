// SPDX-License-Identifier: Apache-2.0
#include "top/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lib/feeds.h"
#include "period/json.h"
#include "shown_tables.h"
#include "support/temporary_folder.h"

namespace strata::top {
namespace {

using period::Column;
using period::Table;

// Seconds 0 to 9, or without end; in number 6 the database is busier.
class CountedFeed : public period::Feed {
 public:
  explicit CountedFeed(bool is_live) : is_live_(is_live) {}
  bool is_live() const override { return is_live_; }
  Result<std::optional<Table>> next() override {
    if (!is_live_ && at_ == 10) return std::optional<Table>();
    Table table = second_of_machine(at_ * kSecond);
    if (at_ == 6) table.machines[0].values.set(Column::Events, 99'999);
    // The shell does nothing but in the first second, and what ended has ended.
    if (at_ > 0)
      table.machines[0].tasks.erase(table.machines[0].tasks.begin() + 2,
                                    table.machines[0].tasks.begin() + 4);
    ++at_;
    return std::optional(std::move(table));
  }
  Status restart() override {
    if (is_live_) return Error{{}, std::nullopt, "no"};
    at_ = 0;
    ++restarts;
    return {};
  }
  Status want(period::Groups) override { return {}; }
  period::Groups told() const override { return {}; }
  std::vector<std::string> shortfalls() const override { return {}; }
  int restarts = 0;

 private:
  bool is_live_;
  int64_t at_ = 0;
};

constexpr period::History::Bounds kAll{Nanoseconds{1000 * kSecond}, size_t{1} << 26};
constexpr period::History::Bounds kThree{Nanoseconds{3 * kSecond}, size_t{1} << 26};

Timeline timeline_of(bool is_live, period::History::Bounds bounds = kAll) {
  return {std::make_unique<CountedFeed>(is_live), bounds};
}
bool never() { return false; }
bool is_busy(const Table& table) { return table.machines[0].values[Column::Events] > 90'000; }
int64_t second(const Timeline& timeline) { return timeline.begin() / kSecond; }

TEST(Timeline, ARecordingIsReadAsFarAsSomebodyLooks) {
  Timeline timeline = timeline_of(false);
  ASSERT_TRUE(timeline.take());
  EXPECT_TRUE(timeline.forward());
  EXPECT_TRUE(timeline.forward());
  EXPECT_EQ(second(timeline), 2);
  EXPECT_EQ(timeline.history().size(), 3u);
  EXPECT_TRUE(timeline.back());
  EXPECT_EQ(second(timeline), 1);
  timeline.to_last(never);
  EXPECT_EQ(second(timeline), 9);
  EXPECT_FALSE(timeline.forward());
  EXPECT_TRUE(timeline.has_ended());
  timeline.to_first();
  EXPECT_FALSE(timeline.back());
}

TEST(Timeline, WhatARecordingsHistoryDroppedIsReadAgain) {
  Timeline timeline = timeline_of(false, kThree);
  ASSERT_TRUE(timeline.take());
  timeline.to_last(never);
  EXPECT_LE(timeline.history().size(), 4u);
  for (int64_t wanted = 8; wanted >= 0; --wanted) {
    ASSERT_TRUE(timeline.back()) << wanted;
    ASSERT_EQ(second(timeline), wanted);
  }
  EXPECT_FALSE(timeline.back());
  timeline.to_last(never);
  timeline.to_first();
  EXPECT_EQ(second(timeline), 0);
}

TEST(Timeline, ARunningMachinesPastEndsWhereItIsKeptNoMore) {
  Timeline timeline = timeline_of(true, kThree);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(timeline.take());
  timeline.to_newest();
  EXPECT_EQ(second(timeline), 5);
  timeline.back();
  EXPECT_EQ(second(timeline), 4);
  // It goes on behind whoever looks at the past, who stays where they are.
  ASSERT_TRUE(timeline.take());
  EXPECT_EQ(second(timeline), 4);
  while (timeline.back()) {
  }
  EXPECT_EQ(second(timeline), 4) << "seconds 4 to 6 are kept";
  EXPECT_TRUE(timeline.forward());
  EXPECT_TRUE(timeline.forward());
  EXPECT_FALSE(timeline.forward()) << "nothing is taken because somebody looks";
}

TEST(Timeline, FindsTimesAndMoments) {
  Timeline timeline = timeline_of(false, kThree);
  ASSERT_TRUE(timeline.take());
  EXPECT_TRUE(timeline.to_time(5 * kSecond + 1, never));
  EXPECT_EQ(second(timeline), 5);
  EXPECT_TRUE(timeline.to_time(kSecond, never)) << "read again";
  EXPECT_EQ(second(timeline), 1);
  EXPECT_FALSE(timeline.to_time(11 * kSecond, never));
  EXPECT_FALSE(timeline.to_time(-1, never));
  timeline.to_first();
  EXPECT_TRUE(timeline.to_next(is_busy, 1, never));
  EXPECT_EQ(second(timeline), 6);
  EXPECT_FALSE(timeline.to_next(is_busy, 1, never));
  EXPECT_EQ(second(timeline), 6) << "the view stays";
  timeline.to_last(never);
  EXPECT_TRUE(timeline.to_next(is_busy, -1, never));
  EXPECT_EQ(second(timeline), 6);
}

TEST(Timeline, ALongSearchEndsWhenNobodyWantsItAnyMore) {
  Timeline timeline = timeline_of(false);
  ASSERT_TRUE(timeline.take());
  int asked = 0;
  EXPECT_FALSE(
      timeline.to_next([](const Table&) { return false; }, 1, [&] { return ++asked > 3; }));
  EXPECT_EQ(second(timeline), 0);
  EXPECT_EQ(timeline.history().size(), 4u);
}

TEST(Timeline, TasksThatDidNothingAreThereAllTheSame) {
  Timeline timeline = timeline_of(false);
  ASSERT_TRUE(timeline.take());
  timeline.to_last(never);
  const Table table = timeline.table();
  const auto shell = std::ranges::find(table.machines[0].tasks, 200, &period::TaskRow::pid);
  ASSERT_NE(shell, table.machines[0].tasks.end());
  EXPECT_EQ(shell->state, Column::WaitChild);
  EXPECT_EQ(shell->values[Column::WaitChild], static_cast<uint64_t>(kSecond));
  EXPECT_EQ(std::ranges::count(table.machines[0].tasks, 201, &period::TaskRow::pid), 0)
      << "it ended in the first second";
}

TEST(Timeline, WhatIsSavedOpensAgain) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("saved.jsonl");
  Timeline timeline = timeline_of(true, kThree);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(timeline.take());
  const Status saved = timeline.save(path);
  ASSERT_TRUE(saved) << saved.error().text();
  auto feed = lib::open_feed({path}, Nanoseconds{kSecond});
  ASSERT_TRUE(feed) << feed.error().text();
  Timeline again(*std::move(feed), kAll);
  ASSERT_TRUE(again.take());
  EXPECT_EQ(second(again), 3);
  timeline.to(0);
  const auto line_of = [](const Timeline& shown) {
    TextBuffer text;
    period::put_json(shown.table(), text);
    return std::string(text.view());
  };
  EXPECT_EQ(line_of(again), line_of(timeline)) << "with the tasks that did nothing";
  again.to_last(never);
  EXPECT_EQ(second(again), 5);
  EXPECT_FALSE(again.problem());
}

}  // namespace
}  // namespace strata::top
