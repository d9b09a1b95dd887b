// SPDX-License-Identifier: Apache-2.0
#include "live/task_sums.h"

#include <gtest/gtest.h>

namespace strata::live {
namespace {

using period::Column;

TaskSlot slot_that(Doing doing, uint64_t since) {
  TaskSlot slot{};
  slot.doing = doing;
  slot.since = since;
  return slot;
}

period::TaskRow::Values between(const TaskSlot& before, uint64_t begin, const TaskSlot& now,
                                uint64_t end, bool tells_calls = false) {
  period::TaskRow::Values values;
  put_difference(before, TaskSums::at(before, begin), now, TaskSums::at(now, end), tells_calls,
                 values);
  return values;
}

TEST(TaskSums, WhatATaskStillDoesCountsUpToTheMoment) {
  TaskSlot slot = slot_that(kRuns, 1000);
  slot.ns[kRuns] = 50;
  const TaskSums sums = TaskSums::at(slot, 1300);
  EXPECT_EQ(sums.ns[kRuns], 350);
  EXPECT_EQ(sums.doing, kRuns);
}

TEST(TaskSums, AMomentBeforeTheLastChangeCountsNothingTwice) {
  TaskSlot slot = slot_that(kWaitsForOther, 1000);
  slot.ns[kRuns] = 50;
  const TaskSums sums = TaskSums::at(slot, 990);
  EXPECT_EQ(sums.ns[kRuns], 50);
  EXPECT_EQ(sums.ns[kWaitsForOther], 0);
}

TEST(TaskSums, WhoWasWokenWaitsForACpuSinceThen) {
  TaskSlot slot = slot_that(kWaitsForDisk, 1000);
  slot.woken_at = 1200;
  slot.wakeups = 7;
  const TaskSums sums = TaskSums::at(slot, 1300);
  EXPECT_EQ(sums.ns[kWaitsForDisk], 200);
  EXPECT_EQ(sums.ns[kWaitsForCpu], 100);
  EXPECT_EQ(sums.doing, kWaitsForCpu);
  EXPECT_EQ(sums.wakeups, 8);
}

TEST(TaskSums, AnEarlierWakeUpDoesNotEndASleep) {
  TaskSlot slot = slot_that(kWaitsForOther, 1000);
  slot.woken_at = 900;
  const TaskSums sums = TaskSums::at(slot, 1300);
  EXPECT_EQ(sums.ns[kWaitsForOther], 300);
  EXPECT_EQ(sums.doing, kWaitsForOther);
}

TEST(TaskSums, AZombieIsNotWoken) {
  TaskSlot slot = slot_that(kIsZombie, 1000);
  slot.woken_at = 1100;
  EXPECT_EQ(TaskSums::at(slot, 1300).doing, kIsZombie);
}

TEST(TaskSums, InterruptsAreTakenFromWhatTheyInterrupted) {
  const TaskSlot before = slot_that(kRunsInUser, 0);
  TaskSlot now = slot_that(kRunsInCall, 600);
  now.ns[kRunsInUser] = 600;
  now.irq_ns[0] = 10;
  now.softirq_ns[0] = 5;
  now.softirq_ns[1] = 100;
  const auto values = between(before, 0, now, 1000, true);
  EXPECT_EQ(values[Column::User], 585);
  EXPECT_EQ(values[Column::Syscall], 300);
  EXPECT_EQ(values[Column::Irq], 10);
  EXPECT_EQ(values[Column::Softirq], 105);
}

TEST(TaskSums, WithoutSystemCallsTheTicksOfThePeriodSplitTheTime) {
  constexpr uint64_t kTick = 4'000'000;
  TaskSlot before = slot_that(kRuns, 0);
  before.system_time = 100 * kTick;
  TaskSlot now = before;
  now.user_time = 6 * kTick;
  now.system_time = 102 * kTick;
  const auto values = between(before, 0, now, 1'000'000'000);
  EXPECT_EQ(values[Column::User], 750'000'000);
  EXPECT_EQ(values[Column::Syscall], 250'000'000);
  EXPECT_EQ(values[Column::Running], 0);
}

TEST(TaskSums, FewTicksInAPeriodGiveWayToThoseOfTheWholeLife) {
  constexpr uint64_t kTick = 4'000'000;
  TaskSlot before = slot_that(kRuns, 0);
  before.user_time = 74 * kTick;
  before.system_time = 25 * kTick;
  TaskSlot now = before;
  now.user_time += kTick;
  const auto values = between(before, 0, now, 1'000'000);
  EXPECT_EQ(values[Column::User], 750'000);
  EXPECT_EQ(values[Column::Syscall], 250'000);
}

TEST(TaskSums, WithoutAnyTickTheModeIsNotTold) {
  const TaskSlot slot = slot_that(kRuns, 0);
  EXPECT_EQ(between(slot, 0, slot, 1000)[Column::Running], 1000);
}

TEST(TaskSums, AThreadOfTheKernelRunsInTheKernel) {
  TaskSlot slot = slot_that(kRuns, 0);
  slot.is_kernel = 1;
  slot.system_time = 4'000'000;
  EXPECT_EQ(between(slot, 0, slot, 1000)[Column::Kernel], 1000);
}

TEST(TaskSums, NumbersThatWrapAroundAreStillDifferences) {
  TaskSlot before = slot_that(kWaitsForOther, 0);
  before.sleeps = UINT32_MAX;
  TaskSlot now = before;
  now.sleeps = 2;
  EXPECT_EQ(between(before, 0, now, 1)[Column::Sleeps], 3);
}

}  // namespace
}  // namespace strata::live
