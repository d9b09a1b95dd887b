// SPDX-License-Identifier: Apache-2.0
#include "top/roster.h"

#include <gtest/gtest.h>

namespace strata::top {
namespace {

using period::Column;
using period::Machine;
using period::Table;
using period::TaskRow;

constexpr int64_t kSecond = 1'000'000'000;

Table second_with(int64_t number, TaskRow row) {
  Table table{.begin = number * kSecond, .end = (number + 1) * kSecond, .clock = "epoch"};
  table.machines.emplace_back(Machine{.name = "host"}).tasks.push_back(std::move(row));
  return table;
}

TaskRow sleeper(int32_t tid) {
  return {.pid = tid,
          .tid = tid,
          .name = "a name that is too long for a thread",
          .state_before = Column::WaitPoll,
          .state = Column::WaitPoll};
}

TEST(Roster, ATaskThatReturnsToWhatItDidTakesNoMoreMemory) {
  Roster roster;
  roster.note(second_with(0, sleeper(1)));
  const size_t bytes = roster.bytes();
  EXPECT_GT(bytes, sizeof(TaskRow));
  for (int64_t i = 1; i < 100; ++i) roster.note(second_with(i, sleeper(1)));
  EXPECT_EQ(roster.bytes(), bytes);
  Table empty{.begin = 50 * kSecond, .end = 51 * kSecond, .clock = "epoch"};
  empty.machines.push_back({.name = "host"});
  roster.complete(empty);
  ASSERT_EQ(empty.machines[0].tasks.size(), 1u);
  EXPECT_EQ(empty.machines[0].tasks[0].values[Column::WaitPoll], uint64_t{kSecond});
}

TEST(Roster, WhatEndedTakesMemoryUntilItIsForgotten) {
  Roster roster;
  for (int32_t i = 0; i < 100; ++i) {
    TaskRow row = sleeper(i + 1);
    row.has_ended = true;
    row.state.reset();
    roster.note(second_with(i, std::move(row)));
  }
  const size_t bytes = roster.bytes();
  roster.forget_before(50 * kSecond + 1);
  EXPECT_NEAR(static_cast<double>(roster.bytes()), static_cast<double>(bytes) / 2,
              static_cast<double>(bytes) / 50);
  roster.forget_before(200 * kSecond);
  EXPECT_EQ(roster.bytes(), 0u);
}

}  // namespace
}  // namespace strata::top
