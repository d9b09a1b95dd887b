// SPDX-License-Identifier: Apache-2.0
#include "trace/summary.h"

#include <gtest/gtest.h>

#include "fake_trace.h"

namespace strata::trace {
namespace {

class SummaryTest : public testing::Test {
 protected:
  SummaryTest() {
    trace.types.push_back(sched_switch_type());
    trace.types.push_back(odd_type());
    // A number that is too large to count by.
    trace.types.push_back(make_type(0xffff'fff0, "app", "far", {}));
  }
  FakeEvent event(size_t type, int64_t time, uint64_t lost = 0, bool unknown = false) {
    return {trace.types[type].get(), RecordMaker(*trace.types[type]).bytes(), time, lost, unknown};
  }
  FakeTrace trace;
};

TEST_F(SummaryTest, AnEmptyTrace) {
  trace.sources = {{0, "", {}, {}}};
  TraceSummary summary = summarize(trace);
  EXPECT_EQ(summary.events, 0u);
  EXPECT_FALSE(summary.span);
  ASSERT_EQ(summary.streams.size(), 1u);
  EXPECT_FALSE(summary.streams[0].span);
}

TEST_F(SummaryTest, CountsByStreamAndType) {
  trace.sources = {{0, "", {event(0, 5), event(1, 6, 12), event(0, 9)}, {}},
                   {3, "x", {event(0, 2, 0, true), event(2, 7, 1, true), event(2, 8)}, {}}};
  TraceSummary summary = summarize(trace);
  EXPECT_EQ(summary.events, 6u);
  EXPECT_EQ(summary.lost, 13u);
  EXPECT_EQ(summary.lost_unknown, 2u);
  EXPECT_EQ(summary.span->begin.count, 2);
  EXPECT_EQ(summary.span->end.count, 9);
  ASSERT_EQ(summary.streams.size(), 2u);
  EXPECT_EQ(summary.streams[1].buffer, "x");
  EXPECT_EQ(summary.streams[1].cpu, CpuId(3));
  EXPECT_EQ(summary.streams[1].events, 3u);
  EXPECT_EQ(summary.streams[1].lost_unknown, 2u);
  ASSERT_EQ(summary.types.size(), 3u);
  EXPECT_EQ(summary.types[0].type->name, "sched_switch");
  EXPECT_EQ(summary.types[0].count, 3u);
  EXPECT_EQ(summary.types[1].type->name, "far");
  EXPECT_EQ(summary.types[1].count, 2u);
  EXPECT_EQ(summary.types[2].count, 1u);
}

TEST_F(SummaryTest, AClockThatRunsBackwardsStillGivesTheSpan) {
  trace.sources = {{0, "", {event(0, 50), event(0, 10), event(0, 20)}, {}}};
  TraceSummary summary = summarize(trace);
  EXPECT_EQ(summary.span->begin.count, 10);
  EXPECT_EQ(summary.span->end.count, 50);
}

TEST_F(SummaryTest, CollectsProblems) {
  trace.sources = {{0, "", {event(0, 5)}, Error{"a.dat", 4096, "bad page"}}, {1, "", {}, {}}};
  TraceSummary summary = summarize(trace);
  EXPECT_EQ(summary.events, 1u);
  ASSERT_EQ(summary.problems.size(), 1u);
  EXPECT_EQ(summary.problems[0].offset, 4096u);
  EXPECT_EQ(summary.problem_count, 1u);
}

}  // namespace
}  // namespace strata::trace
