// SPDX-License-Identifier: Apache-2.0
#include "trace/clock.h"

#include <gtest/gtest.h>

namespace strata::trace {
namespace {

// What Documentation/trace/ftrace.rst says of each.

TEST(Clock, LocalIsNotComparedAcrossCpus) {
  const Clock clock = kernel_clock("local");
  EXPECT_TRUE(clock.is_time);
  EXPECT_FALSE(clock.across_cpus);
  EXPECT_TRUE(clock.in_nanoseconds);
}

TEST(Clock, CounterOrdersButIsNotTime) {
  const Clock clock = kernel_clock("counter");
  EXPECT_FALSE(clock.is_time);
  EXPECT_FALSE(clock.in_nanoseconds);
  EXPECT_TRUE(clock.across_cpus);
}

TEST(Clock, UptimeMovesOnceAJiffy) {
  const Clock clock = kernel_clock("uptime");
  EXPECT_TRUE(clock.is_time);
  EXPECT_GE(clock.resolution_ns, 1'000'000u);
}

TEST(Clock, CountersOfTheProcessorAreCycles) {
  for (const char* name : {"x86-tsc", "ppc-tb"}) {
    const Clock clock = kernel_clock(name);
    EXPECT_EQ(clock.name, name);
    EXPECT_TRUE(clock.is_time) << name;
    EXPECT_FALSE(clock.in_nanoseconds) << name;
  }
}

TEST(Clock, TheRestAreNanosecondsAcrossCpus) {
  for (const char* name : {"global", "mono", "mono_raw", "boot", "tai", "one-of-the-future"}) {
    const Clock clock = kernel_clock(name);
    EXPECT_EQ(clock.name, name);
    EXPECT_TRUE(clock.is_time) << name;
    EXPECT_TRUE(clock.across_cpus) << name;
    EXPECT_TRUE(clock.in_nanoseconds) << name;
    EXPECT_EQ(clock.resolution_ns, 1u) << name;
  }
}

TEST(SelectedClock, IsTheOneInBrackets) {
  EXPECT_EQ(selected_clock("[local] global counter uptime perf mono mono_raw boot tai x86-tsc\n"),
            "local");
  EXPECT_EQ(selected_clock("local global counter uptime perf mono mono_raw boot tai [x86-tsc]\n"),
            "x86-tsc");
  EXPECT_EQ(selected_clock("[mono]"), "mono");
}

TEST(SelectedClock, NothingWhereNoneIsMarked) {
  EXPECT_EQ(selected_clock(""), "");
  EXPECT_EQ(selected_clock("local global"), "");
  EXPECT_EQ(selected_clock("local ]global["), "");
  EXPECT_EQ(selected_clock("[local"), "");
}

}  // namespace
}  // namespace strata::trace
