// SPDX-License-Identifier: Apache-2.0
#include "live/counter_rows.h"

#include <gtest/gtest.h>

#include "live/task_rows.h"
#include "made_up_memory.h"

namespace strata::live {
namespace {

using period::Certainty;
using period::Column;
using period::RowKind;

class CounterRowsTest : public testing::Test {
 protected:
  // As a program adds what it has read.
  static void count(Counts& counts, std::initializer_list<uint64_t> numbers, uint64_t ns = 100,
                    uint64_t left_out_ns = 0) {
    counts.version += 2;
    counts.ns += ns;
    Counted* counter = counts.counters;
    for (const uint64_t number : numbers) {
      counter->count += number;
      (counter++)->left_out_ns += left_out_ns;
    }
  }

  period::TaskRow::Values tell(uint32_t slot) {
    period::TaskRow::Values values;
    rows_.tell(slot, values);
    return values;
  }
  period::Machine tell_cpus() {
    period::Machine machine;
    machine.cpus = {{.number = 0}, {.number = 1}};
    for (const Column column : {Column::PageFaults, Column::Cycles})
      for (const RowKind kind : {RowKind::Machine, RowKind::Cpu, RowKind::Task})
        machine.marks.set(kind, column, Certainty::Unknown);
    rows_.tell(machine);
    machine.add_up();
    return machine;
  }

  std::vector<Counts> tasks_ = std::vector<Counts>(4);
  std::vector<CpuCounters> cpus_ = std::vector<CpuCounters>(2);
  CounterRows rows_{tasks_, cpus_, {Column::PageFaults, Column::Cycles}};
};

TEST_F(CounterRowsTest, WhatWasCountedSinceTheLastTableIsTold) {
  EXPECT_FALSE(rows_.has_news(1));
  count(tasks_[1], {5, 1000});
  EXPECT_TRUE(rows_.has_news(1));
  EXPECT_EQ(tell(1)[Column::PageFaults], 5);
  EXPECT_FALSE(rows_.has_news(1));
  EXPECT_EQ(tell(1)[Column::PageFaults], 0);
  count(tasks_[1], {2, 10});
  count(tasks_[1], {1, 10});
  const period::TaskRow::Values values = tell(1);
  EXPECT_EQ(values[Column::PageFaults], 3);
  EXPECT_EQ(values[Column::Cycles], 20);
}

TEST_F(CounterRowsTest, ASlotThatIsUsedAgainBeginsWithNothing) {
  count(tasks_[2], {5, 1000});
  tell(2);
  count(tasks_[2], {1, 1});  // which nobody was told
  rows_.forget(2);
  EXPECT_FALSE(rows_.has_news(2));
  count(tasks_[2], {3, 7});
  EXPECT_EQ(tell(2)[Column::PageFaults], 3);
}

TEST_F(CounterRowsTest, ThePartOfTheTimeInWhichACounterHadNoPlaceIsMadeUpFor) {
  tell_cpus();
  // It was counted for a quarter of the time, and then for half of it.
  count(tasks_[0], {10, 10}, 400, 300);
  EXPECT_EQ(tell(0)[Column::Cycles], 40);
  count(tasks_[0], {10, 10}, 400, 200);
  EXPECT_EQ(tell(0)[Column::Cycles], 20);
  EXPECT_EQ(tell_cpus().marks.of(RowKind::Task, Column::Cycles), Certainty::Estimated);
  count(tasks_[0], {10, 10});
  EXPECT_EQ(tell(0)[Column::Cycles], 10);
  EXPECT_EQ(tell_cpus().marks.of(RowKind::Task, Column::Cycles), Certainty::Exact);
}

TEST_F(CounterRowsTest, WhatHadNoPlaceAtAllIsNotKnown) {
  count(tasks_[0], {0, 0}, 400, 400);
  EXPECT_EQ(tell(0)[Column::Cycles], period::kUnknownCell);
}

TEST_F(CounterRowsTest, ScalingDoesNotOverflow) {
  const uint64_t many = uint64_t{1} << 60;
  count(tasks_[0], {many, many}, 1'000'000'000'000, 500'000'000'000);
  EXPECT_EQ(tell(0)[Column::Cycles], 2 * many);
}

TEST_F(CounterRowsTest, CpusHaveWhatWasCountedOnThemAndTheMachineTheirSum) {
  count(cpus_[0].counts, {5, 100});
  count(cpus_[1].counts, {7, 10});
  const period::Machine first = tell_cpus();
  EXPECT_EQ(first.cpus[0].values[Column::PageFaults], 5);
  EXPECT_EQ(first.cpus[1].values[Column::PageFaults], 7);
  EXPECT_EQ(first.values[Column::PageFaults], 12);
  EXPECT_EQ(first.values[Column::Cycles], 110);
  count(cpus_[1].counts, {1, 1});
  EXPECT_EQ(tell_cpus().values[Column::PageFaults], 1);
}

TEST_F(CounterRowsTest, InTheFirstTableAllIsAnEstimateSinceItWasNotCountedFromTheBeginning) {
  EXPECT_EQ(tell_cpus().marks.of(RowKind::Task, Column::PageFaults), Certainty::Estimated);
  EXPECT_EQ(tell_cpus().marks.of(RowKind::Task, Column::PageFaults), Certainty::Exact);
}

TEST_F(CounterRowsTest, WhileACpuIsNotReadAllIsAnEstimate) {
  tell_cpus();
  cpus_[1].unread = 3;
  count(cpus_[0].counts, {5, 100});
  const period::Machine machine = tell_cpus();
  EXPECT_EQ(machine.marks.of(RowKind::Task, Column::PageFaults), Certainty::Estimated);
  EXPECT_EQ(machine.values[Column::PageFaults], 5);
  EXPECT_EQ(tell_cpus().marks.of(RowKind::Task, Column::PageFaults), Certainty::Exact);
}

// What a task is charged for its last turn may come when its row has been told.
TEST_F(CounterRowsTest, ATaskOfWhichNothingElseIsNewHasARow) {
  MadeUpMemory memory(4);
  CgroupNames cgroups;
  TaskRows tasks(memory.memory(), cgroups);
  tasks.tell_counters(&rows_);
  const auto tell_tasks = [&](uint64_t end) {
    std::vector<period::TaskRow> rows;
    tasks.copy();
    tasks.tell(end, 0, false, rows);
    return rows;
  };
  TaskSlot* sleeper = memory.take(10, "sleeper");
  sleeper->doing = kWaitsForOther;
  tasks.copy();
  tasks.begin(100);
  ASSERT_EQ(tell_tasks(200).size(), 1u);
  EXPECT_TRUE(tell_tasks(300).empty());
  count(tasks_[0], {5, 1000});
  const auto rows = tell_tasks(400);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].tid, 10);
  EXPECT_EQ(rows[0].values[Column::PageFaults], 5);
  // It ends, and another one gets its slot.
  sleeper->version += 2;
  sleeper->doing = kIsDead;
  sleeper->has_ended = sleeper->is_gone = 1;
  tell_tasks(500);
  EXPECT_EQ(tasks_[0].version, 0u);
}

}  // namespace
}  // namespace strata::live
