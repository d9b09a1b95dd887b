// SPDX-License-Identifier: Apache-2.0
#include "live/task_rows.h"

#include <gtest/gtest.h>

#include "made_up_memory.h"

namespace strata::live {
namespace {

using period::Column;

class TaskRowsTest : public testing::Test {
 protected:
  std::vector<period::TaskRow> tell(uint64_t end) {
    std::vector<period::TaskRow> rows;
    rows_.copy();
    rows_.tell(end, 1'000'000, false, rows);
    return rows;
  }

  void begin(uint64_t moment) {
    rows_.copy();
    rows_.begin(moment);
  }

  MadeUpMemory made_up_{4};
  CgroupNames cgroups_;
  TaskRows rows_{made_up_.memory(), cgroups_};
};

TEST_F(TaskRowsTest, TheFirstTableHasAllTasksAndLaterOnesThoseThatDidSomething) {
  TaskSlot* sleeper = made_up_.take(10, "sleeper");
  TaskSlot* runner = made_up_.take(11, "runner");
  sleeper->doing = kWaitsForOther;
  runner->doing = kRuns;
  begin(100);
  ASSERT_EQ(tell(200).size(), 2);
  const auto rows = tell(300);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].tid, 11);
  EXPECT_EQ(rows[0].name, "runner");
  EXPECT_EQ(rows[0].values[Column::Running], 100);
}

TEST_F(TaskRowsTest, ASleepIsCutAtTheEdgesOfThePeriodsWithoutRows) {
  TaskSlot* task = made_up_.take(10, "task");
  task->doing = kWaitsForOther;
  begin(100);
  EXPECT_EQ(tell(200)[0].values[Column::WaitOther], 100);
  EXPECT_TRUE(tell(300).empty());
  change(*task, kRuns, 350);
  const auto rows = tell(400);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].values[Column::WaitOther], 50);
  EXPECT_EQ(rows[0].values[Column::Running], 50);
  EXPECT_EQ(rows[0].state_before, Column::WaitOther);
  EXPECT_EQ(rows[0].state, Column::Running);
}

TEST_F(TaskRowsTest, AWakeUpAloneIsNews) {
  TaskSlot* task = made_up_.take(10, "task");
  task->doing = kWaitsForOther;
  begin(100);
  tell(200);
  task->woken_at = 260;
  const auto rows = tell(300);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].values[Column::WaitOther], 60);
  EXPECT_EQ(rows[0].values[Column::WaitCpu], 40);
  EXPECT_EQ(rows[0].state, Column::WaitCpu);
}

TEST_F(TaskRowsTest, WhoLivedOnlyWithinAPeriodIsToldWithItsExitCode) {
  begin(100);
  TaskSlot* task = made_up_.take(10, "short");
  task->was_born = 1;
  task->start = task->since = 120;
  task->doing = kIsNew;
  change(*task, kRuns, 130);
  change(*task, kIsDead, 180);
  task->has_ended = task->is_gone = 1;
  task->exit_code = 3 << 8;
  const auto rows = tell(200);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_TRUE(rows[0].was_born);
  EXPECT_TRUE(rows[0].has_ended);
  EXPECT_EQ(rows[0].exit_code, 3);
  EXPECT_EQ(rows[0].exit_signal, std::nullopt);
  EXPECT_EQ(rows[0].start, 1'000'120);
  EXPECT_EQ(rows[0].values[Column::New], 10);
  EXPECT_EQ(rows[0].values[Column::Running], 50);
  EXPECT_EQ(rows[0].state_before, std::nullopt);
  EXPECT_EQ(rows[0].state, std::nullopt);
  EXPECT_TRUE(tell(300).empty());
}

TEST_F(TaskRowsTest, AnEndByASignalHasNoExitCode) {
  begin(100);
  TaskSlot* task = made_up_.take(10, "killed");
  task->has_ended = 1;
  task->exit_code = 9;
  const auto rows = tell(200);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].exit_signal, 9);
  EXPECT_EQ(rows[0].exit_code, std::nullopt);
}

TEST_F(TaskRowsTest, AnEndIsToldOnce) {
  begin(100);
  TaskSlot* task = made_up_.take(10, "zombie");
  task->since = 110;
  change(*task, kIsZombie, 150);
  task->has_ended = 1;
  EXPECT_TRUE(tell(200)[0].has_ended);
  change(*task, kIsDead, 250);
  task->is_gone = 1;
  const auto rows = tell(300);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_FALSE(rows[0].has_ended);
  EXPECT_EQ(rows[0].values[Column::Zombie], 50);
}

TEST_F(TaskRowsTest, SlotsOfTheGoneAreUsedAgainAndBegunAnew) {
  begin(100);
  for (int32_t round = 0; round < 20; ++round) {
    const auto begin = static_cast<uint64_t>(200 + 100 * round);
    std::vector<TaskSlot*> tasks;
    for (int32_t i = 0; i < 4; ++i) tasks.push_back(made_up_.take(100 + 4 * round + i, "task"));
    EXPECT_EQ(made_up_.take(1, "too many"), nullptr);
    for (TaskSlot* task : tasks) {
      task->since = begin;
      change(*task, kIsDead, begin + 7);
      task->has_ended = task->is_gone = 1;
    }
    const auto rows = tell(begin + 100);
    ASSERT_EQ(rows.size(), 4);
    for (const period::TaskRow& row : rows) EXPECT_EQ(row.values[Column::Running], 7);
  }
}

TEST_F(TaskRowsTest, ASlotThatIsNotFilledInYetIsLeftAlone) {
  begin(100);
  TaskSlot* task = made_up_.take(0, "");
  EXPECT_TRUE(tell(200).empty());
  task->tid = 10;
  task->since = 210;
  const auto rows = tell(300);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].values[Column::Running], 90);
}

TEST_F(TaskRowsTest, ASlotThatWasGivenUpIsFreeAgain) {
  begin(100);
  TaskSlot* task = made_up_.take(0, "");
  task->is_gone = 1;
  EXPECT_TRUE(tell(200).empty());
  for (int32_t i = 0; i < 4; ++i) EXPECT_NE(made_up_.take(10 + i, "task"), nullptr);
}

}  // namespace
}  // namespace strata::live
