// SPDX-License-Identifier: Apache-2.0
#include "trace/selection.h"

#include <gtest/gtest.h>

#include "fake_trace.h"

namespace strata::trace {
namespace {

class SelectionTest : public testing::Test {
 protected:
  static Filter filter(std::string_view text) { return *Filter::parse(text); }
  bool has(Selection& selection, const EventType& type, int64_t time = 0, uint32_t cpu = 0) {
    FakeEvent event{&type, RecordMaker(type, 7).set("common_flags", 1).bytes(), time};
    return selection.matches(view(event, cpu), names);
  }
  void want(Selection& selection, std::string_view pattern, std::string_view condition = "") {
    selection.wanted.push_back({EventPattern(pattern), {}});
    if (!condition.empty()) selection.wanted.back().filters.push_back(filter(condition));
  }
  std::unique_ptr<EventType> sched_switch = sched_switch_type();
  std::unique_ptr<EventType> openat = sys_enter_openat_type();
  TaskNames names;
};

TEST_F(SelectionTest, PatternsOfEvents) {
  auto matches = [&](std::string_view pattern) {
    return EventPattern(pattern).matches(*sched_switch);
  };
  EXPECT_TRUE(matches("sched_switch"));
  EXPECT_TRUE(matches("sched"));  // a bare word is a system or an event
  EXPECT_TRUE(matches("sched_*"));
  EXPECT_TRUE(matches("sched:sched_switch"));
  EXPECT_TRUE(matches("sched:*"));
  EXPECT_TRUE(matches("sched:"));
  EXPECT_TRUE(matches("*:*switch"));
  EXPECT_FALSE(matches("irq"));
  EXPECT_FALSE(matches("irq:sched_switch"));
  EXPECT_FALSE(matches("sched:sched"));
}

TEST_F(SelectionTest, EverythingByDefault) {
  Selection selection;
  EXPECT_TRUE(selection.is_everything());
  EXPECT_TRUE(has(selection, *sched_switch));
}

TEST_F(SelectionTest, AFilterOfOneEventLeavesTheOthersAlone) {
  Selection selection;
  want(selection, "sched_switch", "prev_pid == 5");
  want(selection, "syscalls");
  EXPECT_FALSE(has(selection, *sched_switch));
  EXPECT_TRUE(has(selection, *openat));
}

TEST_F(SelectionTest, WantedOnceIsEnough) {
  Selection selection;
  want(selection, "sched_switch", "prev_pid == 5");
  want(selection, "sched_switch", "tid == 7");
  EXPECT_TRUE(has(selection, *sched_switch));
}

TEST_F(SelectionTest, AFilterForAllHoldsForAll) {
  Selection selection;
  want(selection, "sched");
  selection.filters.push_back(filter("tid == 8"));
  EXPECT_FALSE(has(selection, *sched_switch));
  EXPECT_FALSE(selection.is_everything());
}

TEST_F(SelectionTest, CpusThreadsAndTime) {
  Selection selection;
  selection.cpus = *parse_cpu_list("0-2,5");
  EXPECT_TRUE(has(selection, *openat, 0, 2));
  EXPECT_FALSE(has(selection, *openat, 0, 3));
  selection.tids = {Tid(7)};
  EXPECT_TRUE(has(selection, *openat, 0, 5));
  selection.begin = Nanoseconds{10};
  selection.end = Nanoseconds{20};
  EXPECT_FALSE(has(selection, *openat, 9));
  EXPECT_TRUE(has(selection, *openat, 10));
  EXPECT_TRUE(has(selection, *openat, 20));
  EXPECT_FALSE(has(selection, *openat, 21));
  selection.tids = {Tid(6)};
  EXPECT_FALSE(has(selection, *openat, 15));
}

TEST_F(SelectionTest, TypesThatCannotBeWanted) {
  Selection selection;
  want(selection, "*", "prev_pid == 5");
  EXPECT_TRUE(selection.has_type(*sched_switch));
  EXPECT_FALSE(selection.has_type(*openat));
}

TEST(CpuList, RefusesWhatIsNone) {
  for (const char* text : {"", "a", "1-", "3-1", "1,", "1;2", "-1"})
    EXPECT_FALSE(parse_cpu_list(text)) << text;
}

}  // namespace
}  // namespace strata::trace
