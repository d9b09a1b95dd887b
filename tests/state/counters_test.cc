// SPDX-License-Identifier: Apache-2.0
#include "state/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "state/throttling.h"

namespace strata::state {
namespace {

using testing::ElementsAre;

// An event type of 8-byte integers; the first is the thread that ran.
trace::EventType type_of(std::string name, const std::vector<std::string>& fields) {
  trace::EventType type;
  type.name = std::move(name);
  for (const std::string& field_name : fields) {
    trace::Field field;
    field.name = field_name;
    field.offset = static_cast<uint32_t>(type.fields.size() * 8);
    field.size = 8;
    type.fields.push_back(field);
  }
  type.tid = type.ref("tid");
  return type;
}

class CountersTest : public testing::Test {
 protected:
  CountersTest() {
    trace_.properties = {{"counters", "faults,cache_misses"}};
    EXPECT_TRUE(counters_.add_type(trace_, switch_));
    EXPECT_TRUE(counters_.add_type(trace_, exit_));
    EXPECT_FALSE(counters_.add_type(trace_, other_));
  }

  // As an engine takes it, whose tasks have the numbers of their threads.
  void read(const trace::EventType& type, uint32_t cpu, std::vector<int64_t> values,
            bool lost = false) {
    trace::Event event;
    event.type = &type;
    event.cpu = CpuId{cpu};
    event.record = std::as_bytes(std::span(values));
    event.lost = lost ? 1 : 0;
    const Counters::Ran ran = counters_.ran(event);
    counters_.take(event, ran.is_certain ? static_cast<TaskId>(raw(ran.tid)) : kNoTask);
  }

  const trace::EventType switch_ =
      type_of("counters_sched_switch", {"tid", "prev_tid", "next_tid", "faults", "cache_misses"});
  const trace::EventType exit_ =
      type_of("counters_sys_exit", {"tid", "ret", "faults", "cache_misses"});
  const trace::EventType other_ = type_of("counters_of_mine", {"tid", "faults"});
  trace::TraceInfo trace_;
  Counters counters_;
};

TEST_F(CountersTest, WhatWasCountedIsTheTasksThatRan) {
  read(switch_, 0, {7, 7, 8, 100, 1000});  // what was before the first reading is nobody's
  read(switch_, 0, {8, 8, 9, 105, 1000});
  read(switch_, 0, {9, 9, 8, 105, 1007});
  read(switch_, 0, {8, 8, 0, 106, 1008});
  EXPECT_THAT(counters_.names(), ElementsAre("faults", "cache-misses"));
  EXPECT_THAT(counters_.of(8), ElementsAre(6, 1));
  EXPECT_THAT(counters_.of(9), ElementsAre(0, 7));
  EXPECT_THAT(counters_.of(7), ElementsAre(0, 0));
  EXPECT_THAT(counters_.of(kNoTask), ElementsAre(0, 0));
}

TEST_F(CountersTest, CpusCountByThemselves) {
  read(switch_, 0, {7, 7, 8, 100, 0});
  read(switch_, 1, {7, 7, 8, 500, 0});
  read(switch_, 0, {8, 8, 7, 110, 0});
  read(switch_, 1, {8, 8, 7, 501, 0});
  EXPECT_THAT(counters_.of(8), ElementsAre(11, 0));
  ASSERT_EQ(counters_.charged().size(), 2u);
  EXPECT_THAT(counters_.charged()[0].counts, ElementsAre(10, 0));
  EXPECT_EQ(counters_.charged()[1].cpu, 1u);
}

TEST_F(CountersTest, ReadingsWithinATasksTurnAreItsOwn) {
  read(exit_, 0, {8, 0, 100, 0});
  read(exit_, 0, {8, 0, 102, 0});
  read(switch_, 0, {8, 8, 9, 103, 0});
  read(exit_, 0, {9, 0, 107, 0});
  EXPECT_THAT(counters_.of(8), ElementsAre(3, 0));
  EXPECT_THAT(counters_.of(9), ElementsAre(4, 0));
}

TEST_F(CountersTest, AroundASwitchThatWasLeftOutItIsNobodys) {
  read(switch_, 0, {7, 7, 8, 100, 0});
  read(switch_, 0, {9, 9, 8, 110, 0});
  read(switch_, 0, {8, 8, 9, 111, 0});
  EXPECT_THAT(counters_.of(kNoTask), ElementsAre(10, 0));
  EXPECT_THAT(counters_.of(8), ElementsAre(1, 0));
  EXPECT_THAT(counters_.of(9), ElementsAre(0, 0));
}

TEST_F(CountersTest, AcrossALossItIsNobodys) {
  read(switch_, 0, {7, 7, 8, 100, 0});
  read(switch_, 0, {8, 8, 9, 110, 0}, true);
  EXPECT_THAT(counters_.of(kNoTask), ElementsAre(10, 0));
  EXPECT_THAT(counters_.of(8), ElementsAre(0, 0));
}

TEST_F(CountersTest, ACounterThatIsSmallerIsAnotherOne) {
  read(switch_, 0, {7, 7, 8, 100, 0});
  read(switch_, 0, {8, 8, 8, 3, 0});
  read(switch_, 0, {8, 8, 8, 5, 0});
  EXPECT_THAT(counters_.of(8), ElementsAre(2, 0));
}

TEST_F(CountersTest, FromAResetOnOnlyWhatIsReadThenCounts) {
  read(switch_, 0, {7, 7, 8, 100, 0});
  read(switch_, 0, {8, 8, 9, 110, 0});
  counters_.reset();
  read(switch_, 0, {9, 9, 8, 115, 0});
  EXPECT_THAT(counters_.of(8), ElementsAre(0, 0));
  EXPECT_THAT(counters_.of(9), ElementsAre(5, 0));
}

TEST_F(CountersTest, ARecordThatIsCutOffIsNoReason) {
  read(switch_, 0, {7, 7, 8, 100, 0});
  read(switch_, 0, {});
  read(switch_, 0, {7});
  read(switch_, 0, {8, 8, 8, 101, 0});
  read(switch_, 0, {8, 8, 8, 102, 0});
  EXPECT_THAT(counters_.of(8), ElementsAre(1, 0));
}

TEST_F(CountersTest, ATraceThatNamesNoCountersHasNone) {
  Counters counters;
  EXPECT_FALSE(counters.add_type(trace::TraceInfo(), switch_));
}

// As its kernel counts, whatever was before the first sample.
TEST(Throttling, IsTheDifferenceOfSamplesOfACgroup) {
  const trace::EventType type =
      type_of("cgroup_cpu_stat", {"cgroup", "nr_periods", "nr_throttled", "throttled_ns"});
  trace::EventType named = type;
  named.fields[0].kind = trace::ValueKind::Text;
  Throttling throttling;
  ASSERT_TRUE(throttling.add_type(named));
  EXPECT_FALSE(throttling.add_type(type_of("cgroup_other", {"cgroup"})));
  Names names;
  const auto sample = [&](const char* cgroup, int64_t periods, int64_t throttled, int64_t ns) {
    std::vector<int64_t> values = {0, periods, throttled, ns};
    std::memcpy(values.data(), cgroup, std::min<size_t>(strlen(cgroup), 7));
    trace::Event event;
    event.type = &named;
    event.record = std::as_bytes(std::span(values));
    EXPECT_TRUE(throttling.take(event, names));
  };
  const auto of = [&](const char* cgroup) {
    const Throttling::Counts& counts = throttling.cgroups().at(names.find(cgroup));
    return std::vector<uint64_t>{counts.periods, counts.throttled, counts.throttled_ns};
  };
  sample("/a", 100, 10, 5000);
  sample("/b", 7, 7, 7);
  EXPECT_THAT(of("/a"), ElementsAre(0, 0, 0));
  sample("/a", 110, 12, 5600);
  sample("/a", 111, 12, 5600);
  EXPECT_THAT(of("/a"), ElementsAre(11, 2, 600));
  EXPECT_THAT(of("/b"), ElementsAre(0, 0, 0));
  // One that was made anew under the same name.
  sample("/a", 1, 0, 0);
  sample("/a", 3, 1, 50);
  EXPECT_THAT(of("/a"), ElementsAre(13, 3, 650));
  throttling.reset();
  sample("/a", 4, 2, 70);
  EXPECT_THAT(of("/a"), ElementsAre(1, 1, 20));
}

}  // namespace
}  // namespace strata::state
