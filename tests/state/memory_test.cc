// SPDX-License-Identifier: Apache-2.0
#include "state/memory.h"

#include <gtest/gtest.h>

#include "state/told_events.h"

namespace strata::state {
namespace {

constexpr Tid kProcess{7};
constexpr uint64_t kSpace = 99;

TEST(Memory, TheSumIsKnownFromTheStartByItsChanges) {
  Memory memory;
  memory.begin(kProcess, 1000);
  EXPECT_EQ(memory.of_process(kProcess)->resident(), 1000u);
  memory.change(kProcess, kSpace, MemoryUse::Own, 600);
  memory.change(kProcess, kSpace, MemoryUse::Own, 700);
  EXPECT_EQ(memory.of_process(kProcess)->resident(), 1100u);
  EXPECT_FALSE(memory.of_process(kProcess)->is_exact());
  memory.change(kProcess, kSpace, MemoryUse::Files, 200);
  memory.change(kProcess, kSpace, MemoryUse::Shared, 30);
  EXPECT_EQ(memory.of_process(kProcess)->resident(), 930u);
  EXPECT_TRUE(memory.of_process(kProcess)->is_exact());
}

TEST(Memory, OfAKindThatWasNeverToldNothingIsKnown) {
  Memory memory;
  memory.change(kProcess, kSpace, MemoryUse::Own, 600);
  EXPECT_EQ(memory.of_process(kProcess)->resident(), std::nullopt);
  EXPECT_EQ(memory.of_process(kProcess)->of(MemoryUse::Own), 600u);
  EXPECT_EQ(memory.of_process(kProcess)->of(MemoryUse::Files), std::nullopt);
}

TEST(Memory, AnothersChangesGoToWhoseSpaceItIs) {
  Memory memory;
  memory.change(kProcess, kSpace, MemoryUse::Own, 600);
  memory.change(kNoTid, kSpace, MemoryUse::Own, 500);
  memory.change(kNoTid, kSpace + 1, MemoryUse::Own, 1);
  EXPECT_EQ(memory.of_process(kProcess)->of(MemoryUse::Own), 500u);
  memory.change(kProcess, kSpace + 2, MemoryUse::Files, 9);
  EXPECT_EQ(memory.of_process(kProcess)->of(MemoryUse::Own), std::nullopt)
      << "it executes another program";
}

TEST(Memory, EventsAreChargedToWhoRuns) {
  Told told;
  told.at(0, 0, 5).returns("read");
  told.event("task", "task_newtask", {{"pid", 7}, {"comm", 0, "t"}, {"clone_flags", 0}});
  told.switches(5, 0, 7);
  told.at(10, 0, 7).event("kmem", "mm_page_alloc", {{"order", 2}});
  told.event("kmem", "mm_page_free", {{"order", 0}});
  told.event("kmem", "rss_stat", {{"mm_id", 1}, {"curr", 1}, {"member", 1}, {"size", 8192}});
  told.event("vmscan", "mm_vmscan_direct_reclaim_begin", {{"order", 0}});
  told.at(50, 0, 7).event("vmscan", "mm_vmscan_direct_reclaim_end", {{"nr_reclaimed", 32}});
  told.event("oom", "mark_victim", {{"pid", 5}});
  told.event("irq", "softirq_entry", {{"vec", 3}});
  told.event("kmem", "mm_page_alloc", {{"order", 0}});

  const Memory& memory = told.engine.memory();
  const MemoryOfTask& task = memory.of(told.engine.tasks().find(Tid{7}));
  EXPECT_EQ(task.allocations, 1u);
  EXPECT_EQ(task.pages_allocated, 4u);
  EXPECT_EQ(task.pages_freed, 1u);
  EXPECT_EQ(task.reclaims.sum_ns, 40u);
  EXPECT_EQ(task.pages_reclaimed, 32u);
  EXPECT_EQ(memory.of_process(Tid{7})->of(MemoryUse::Own), 8192u);
  EXPECT_TRUE(memory.of(told.engine.tasks().find(Tid{5})).was_killed);
  EXPECT_EQ(memory.of(kNoTask).allocations, 1u) << "an interrupt's";
}

}  // namespace
}  // namespace strata::state
