// SPDX-License-Identifier: Apache-2.0
#include "state/durations.h"

#include <gtest/gtest.h>

#include "state/told_events.h"

namespace strata::state {
namespace {

TEST(Durations, AreCountedInPowersOfTwo) {
  Durations durations;
  for (const int64_t ns : {0, 1, 2, 3, 4, 1024}) durations.add(ns);
  durations.add(INT64_MAX);
  EXPECT_EQ(durations.histogram[0], 1u);
  EXPECT_EQ(durations.histogram[1], 1u);
  EXPECT_EQ(durations.histogram[2], 2u);
  EXPECT_EQ(durations.histogram[3], 1u);
  EXPECT_EQ(durations.histogram[11], 1u);
  EXPECT_EQ(durations.histogram.back(), 1u) << "longer than any";
  EXPECT_EQ(durations.count, 7u);
  EXPECT_EQ(durations.shortest_ns, 0u);
}

TEST(Durations, OfInterruptsAreFromEntryToExit) {
  Told told;
  told.at(0, 0, 5).returns("read");
  for (const int64_t begin : {100, 200}) {
    told.at(begin, 0, 5).event("irq", "softirq_entry", {{"vec", 4}});
    told.at(begin + 5, 0, 5).event("irq", "irq_handler_entry", {{"irq", 9}, {"name", 0, "d"}});
    told.at(begin + 8, 0, 5).event("irq", "irq_handler_exit", {{"irq", 9}});
    told.at(begin + begin / 10, 0, 5).event("irq", "softirq_exit", {{"vec", 4}});
  }
  told.at(300, 0, 5).event("irq", "softirq_exit", {{"vec", 4}});
  const Engine& engine = told.engine;
  const Durations& softirq = engine.interrupts().at({Mode::Softirq, engine.names().find("BLOCK")});
  EXPECT_EQ(softirq.count, 2u) << "the entry of the last was not seen";
  EXPECT_EQ(softirq.shortest_ns, 10u);
  EXPECT_EQ(softirq.average_ns(), 15u) << "with the interrupt that it was interrupted by";
  EXPECT_EQ(softirq.longest_ns, 20u);
  EXPECT_EQ(engine.interrupts().at({Mode::Irq, engine.names().find("9 d")}).sum_ns, 6u);
}

}  // namespace
}  // namespace strata::state
