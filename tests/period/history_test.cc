// SPDX-License-Identifier: Apache-2.0
#include "period/history.h"

#include <gtest/gtest.h>

#include "period/tables.h"

namespace strata::period {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

History::Bounds bounds(int64_t seconds, size_t bytes) {
  return {Nanoseconds{seconds * kSecond}, bytes};
}

TEST(PeriodHistory, GivesTablesAsTheyWere) {
  History history(bounds(600, 1 << 20));
  for (int64_t i = 0; i < 10; ++i) history.add(full_table(i * kSecond, (i + 1) * kSecond));
  ASSERT_EQ(history.size(), 10u);
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(history.at(static_cast<size_t>(i)), full_table(i * kSecond, (i + 1) * kSecond));
}

TEST(PeriodHistory, FindsThePeriodOfATime) {
  History history(bounds(600, 1 << 20));
  for (int64_t i = 5; i < 10; ++i) history.add(full_table(i * kSecond, (i + 1) * kSecond));
  EXPECT_EQ(history.find(Nanoseconds{5 * kSecond - 1}), std::nullopt);
  EXPECT_EQ(history.find(Nanoseconds{5 * kSecond}), 0u);
  EXPECT_EQ(history.find(Nanoseconds{7 * kSecond - 1}), 1u);
  EXPECT_EQ(history.find(Nanoseconds{70 * kSecond}), 4u);
}

TEST(PeriodHistory, ForgetsWhatIsOlderThanItsBound) {
  History history(bounds(3, 1 << 20));
  for (int64_t i = 0; i < 10; ++i) history.add(full_table(i * kSecond, (i + 1) * kSecond));
  ASSERT_EQ(history.size(), 3u);
  EXPECT_EQ(history.begin_of(0).count, 7 * kSecond);
  EXPECT_EQ(history.end_of(2).count, 10 * kSecond);
  EXPECT_EQ(history.crowded_out(), 0u);
}

TEST(PeriodHistory, NeverHoldsMoreThanItsBoundOfMemoryButForOneTable) {
  History history(bounds(600, 4000));
  for (int64_t i = 0; i < 100; ++i) {
    history.add(full_table(i * kSecond, (i + 1) * kSecond));
    EXPECT_TRUE(history.bytes() <= 4000 || history.size() == 1);
  }
  EXPECT_GT(history.size(), 2u);
  EXPECT_EQ(history.crowded_out() + history.size(), 100u);
  EXPECT_EQ(history.end_of(history.size() - 1).count, 100 * kSecond);
  History tiny(bounds(600, 1));
  tiny.add(full_table(0, kSecond));
  EXPECT_EQ(tiny.size(), 1u);
}

TEST(PeriodHistory, AddsUpAWindow) {
  History history(bounds(600, 1 << 20));
  for (int64_t i = 0; i < 4; ++i) history.add(full_table(i * kSecond, (i + 1) * kSecond));
  const Result<Table> sum = history.sum(1, 3);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->begin, kSecond);
  EXPECT_EQ(sum->end, 4 * kSecond);
  EXPECT_EQ(sum->machines.at(0).values[Column::Events], 3 * 1234u);
  history.add(full_table(9 * kSecond, 10 * kSecond));
  EXPECT_FALSE(history.sum(3, 4)) << "there is a gap";
}

// What a screen about CPUs needs of a task.
TEST(PeriodHistory, ATaskCostsLittle) {
  Table table{.begin = 1'700'000'000 * kSecond, .end = 1'700'000'001 * kSecond, .clock = "epoch"};
  Machine& machine = table.machines.emplace_back(Machine{.name = "host"});
  constexpr int32_t kTasks = 300;
  for (int32_t i = 0; i < kTasks; ++i) {
    TaskRow row{.pid = 20000 + i, .tid = 20000 + i};
    row.start = table.begin - 40'000 * kSecond - i * int64_t{1'234'567'891};
    row.name = "worker-" + std::to_string(i);
    row.user = 1000;
    row.cpu = 1;
    row.state_before = row.state = Column::WaitPoll;
    row.values.set(Column::User, 1'234'567);
    row.values.set(Column::Syscall, 345'678);
    row.values.set(Column::WaitCpu, 45'678);
    row.values.set(Column::WaitPoll, 998'765'432);
    row.values.set(Column::Sleeps, 120);
    row.values.set(Column::Wakeups, 120);
    row.values.set(Column::Preemptions, 3);
    row.values.set(Column::Migrations, 12);
    machine.tasks.push_back(std::move(row));
  }
  History history(bounds(600, 64 << 20));
  history.add(table);
  EXPECT_EQ(history.at(0), table);
  EXPECT_LE(history.bytes() / kTasks, 64u);
}

}  // namespace
}  // namespace strata::period
