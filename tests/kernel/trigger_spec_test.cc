// SPDX-License-Identifier: Apache-2.0
#include "kernel/trigger_spec.h"

#include <gmock/gmock.h>

namespace strata::kernel {
namespace {

using testing::HasSubstr;

TEST(TriggerSpec, AnEventAloneHasNoFilter) {
  const auto spec = parse_trigger(" sched:sched_process_exit ");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->event, "sched:sched_process_exit");
  EXPECT_EQ(spec->filter, "");
  EXPECT_FALSE(spec->is_latency());
}

TEST(TriggerSpec, WhatFollowsTheEventIsTheKernelsFilter) {
  const auto spec = parse_trigger("sched_switch prev_prio < 100 && next_comm ~ \"k*\"");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->event, "sched_switch");
  EXPECT_EQ(spec->filter, "prev_prio < 100 && next_comm ~ \"k*\"");
}

TEST(TriggerSpec, AFilterMayBeginWithAParenthesis) {
  const auto spec = parse_trigger("sched_switch(prev_prio < 100)");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->event, "sched_switch");
  EXPECT_EQ(spec->filter, "(prev_prio < 100)");
}

TEST(TriggerSpec, ALatencyHasTwoEventsAndATime) {
  for (const char* text : {"latency(sched:sched_waking, sched_switch) > 50ms",
                           "latency ( sched:sched_waking , sched_switch )>50ms"}) {
    const auto spec = parse_trigger(text);
    ASSERT_TRUE(spec) << text;
    EXPECT_TRUE(spec->is_latency());
    EXPECT_EQ(spec->event, "sched:sched_waking");
    EXPECT_EQ(spec->exit, "sched_switch");
    EXPECT_EQ(spec->longer_than, Nanoseconds{50'000'000});
    EXPECT_EQ(spec->text, text);
  }
}

TEST(TriggerSpec, WhatIsWrongIsToldWithItsPlace) {
  const struct {
    const char* text;
    uint64_t offset;
    const char* cause;
  } cases[] = {
      {"", 0, "an event belongs"},
      {"latency(", 8, "that begins it"},
      {"latency(a)", 9, "','"},
      {"latency(a, )", 11, "that ends it"},
      {"latency(a, b", 12, "')'"},
      {"latency(a, b) < 5ms", 14, "'>'"},
      {"latency(a, b) > soon", 16, "soon"},
  };
  for (const auto& each : cases) {
    const auto spec = parse_trigger(each.text);
    ASSERT_FALSE(spec) << each.text;
    EXPECT_EQ(spec.error().offset, each.offset) << each.text;
    EXPECT_THAT(spec.error().cause, HasSubstr(each.cause)) << each.text;
  }
}

}  // namespace
}  // namespace strata::kernel
