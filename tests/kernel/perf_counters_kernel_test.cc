// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "kernel/cpu_list.h"
#include "kernel/perf_counters.h"
#include "kernel/tracepoint.h"

namespace strata::kernel {
namespace {

using Step = PerfRecords::Step;
using testing::HasSubstr;

struct CounterGroupTest : testing::Test {
  CounterGroupOptions options;
  uint32_t number = 0;
  cpu_set_t before{};

  void SetUp() override {
    const Result<Tracefs> tracefs = Tracefs::find();
    if (!tracefs) GTEST_SKIP() << tracefs.error().text();
    const Result<trace::EventType> tracepoint = find_tracepoint(*tracefs, "sched:sched_switch");
    ASSERT_TRUE(tracepoint) << tracepoint.error().text();
    number = tracepoint->id;
    options.read_at = {number};
    options.counters = *counters_by_name({"context-switches", "task-clock"});
    const Result<CounterGroup> group = CounterGroup::open(options);
    if (!group) GTEST_SKIP() << group.error().text();
    sched_getaffinity(0, sizeof before, &before);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(options.cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  void TearDown() override {
    if (CPU_COUNT(&before) > 0) sched_setaffinity(0, sizeof before, &before);
  }

  static void sleep_often(int times) {
    for (int i = 0; i < times; ++i) usleep(100);
  }
};

TEST_F(CounterGroupTest, EveryOccurrenceIsASampleStampedWithTheRawMonotonicClock) {
  Result<CounterGroup> group = CounterGroup::open(options);
  ASSERT_TRUE(group);
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  };
  const uint64_t begin = now();
  ASSERT_TRUE(group->enable());
  sleep_often(50);
  ASSERT_TRUE(group->disable());
  const uint64_t end = now();

  PerfRecords records = group->pending();
  uint64_t samples = 0;
  uint64_t last = begin;
  uint64_t last_clock = 0;
  for (; records.next() == Step::Sample; ++samples) {
    const CounterSample& sample = records.sample();
    EXPECT_GE(sample.time, last);
    last = sample.time;
    ASSERT_GE(sample.record.size(), 64u);
    EXPECT_EQ(load<uint16_t>(sample.record.data(), false), number);
    // How often it was met; how often the CPU switched before (some kernels' perf does not see
    // every switch); and time, which goes on.
    EXPECT_EQ(sample.value(0), samples + 1);
    EXPECT_GE(sample.value(1), samples);
    EXPECT_GT(sample.value(2), last_clock);
    last_clock = sample.value(2);
  }
  EXPECT_EQ(records.next(), Step::End) << records.cause();
  EXPECT_LE(last, end);
  EXPECT_GE(samples, 50u);
  EXPECT_EQ(*group->occurrences(), samples);
}

TEST_F(CounterGroupTest, WhatTheRingHasNoRoomForIsCountedAndTheRestGoesOn) {
  options.ring_size = 4096;
  Result<CounterGroup> group = CounterGroup::open(options);
  ASSERT_TRUE(group) << group.error().text();
  ASSERT_TRUE(group->enable());
  uint64_t samples = 0;
  uint64_t lost = 0;
  for (int round = 0; round < 20; ++round) {
    sleep_often(30);
    PerfRecords records = group->pending();
    Step step;
    while ((step = records.next()) == Step::Sample || step == Step::Lost)
      step == Step::Sample ? ++samples : lost += records.lost();
    EXPECT_EQ(step, Step::End) << records.cause();
    group->release();
    usleep(1);  // a switch with room: the kernel tells what it lost before
  }
  ASSERT_TRUE(group->disable());
  PerfRecords records = group->pending();
  Step step;
  while ((step = records.next()) == Step::Sample || step == Step::Lost)
    step == Step::Sample ? ++samples : lost += records.lost();
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(samples + lost, *group->occurrences());
}

TEST_F(CounterGroupTest, SeveralTracepointsShareOneRing) {
  const Result<Tracefs> tracefs = Tracefs::find();
  const Result<trace::EventType> exit = find_tracepoint(*tracefs, "raw_syscalls:sys_exit");
  ASSERT_TRUE(exit);
  options.read_at = {number, exit->id};
  Result<CounterGroup> group = CounterGroup::open(options);
  ASSERT_TRUE(group) << group.error().text();
  ASSERT_TRUE(group->enable());
  sleep_often(20);
  ASSERT_TRUE(group->disable());
  PerfRecords records = group->pending();
  uint64_t switches = 0;
  uint64_t exits = 0;
  while (records.next() == Step::Sample) {
    const auto type = load<uint16_t>(records.sample().record.data(), false);
    EXPECT_EQ(records.sample().value(type == number ? 0 : 1),
              type == number ? ++switches : ++exits);
  }
  EXPECT_GE(switches, 20u);
  EXPECT_GE(exits, 20u);
  EXPECT_EQ(*group->occurrences(), switches + exits);
}

TEST_F(CounterGroupTest, WhatCannotBeOpenedSaysWhy) {
  options.ring_size = 5000;
  EXPECT_THAT(CounterGroup::open(options).error().text(), HasSubstr("power of two"));
  options.ring_size = 4096;
  options.read_at = {};
  EXPECT_THAT(CounterGroup::open(options).error().text(), HasSubstr("when to read"));
  options.read_at = {65000};
  EXPECT_THAT(CounterGroup::open(options).error().text(), HasSubstr("65000"));
}

TEST(Tracepoint, IsFoundWithAndWithoutItsSystem) {
  const Result<Tracefs> tracefs = Tracefs::find();
  if (!tracefs) GTEST_SKIP() << tracefs.error().text();
  const Result<trace::EventType> full = find_tracepoint(*tracefs, "sched:sched_switch");
  const Result<trace::EventType> bare = find_tracepoint(*tracefs, "sched_switch");
  ASSERT_TRUE(full);
  ASSERT_TRUE(bare) << bare.error().text();
  EXPECT_EQ(full->id, bare->id);
  EXPECT_EQ(bare->system, "sched");
}

TEST(Tracepoint, WhatIsNoneSaysSo) {
  const Result<Tracefs> tracefs = Tracefs::find();
  if (!tracefs) GTEST_SKIP() << tracefs.error().text();
  EXPECT_EQ(find_tracepoint(*tracefs, "sched:shed_switch").error().text(),
            "'sched:shed_switch' is no event of this kernel");
  for (const char* name :
       {"", ":", "sched:", ":x", "../sched:sched_switch", "sched:../sched_switch"})
    EXPECT_THAT(find_tracepoint(*tracefs, name).error().text(), HasSubstr("no name of an event"))
        << name;
}

}  // namespace
}  // namespace strata::kernel
