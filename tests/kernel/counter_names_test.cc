// SPDX-License-Identifier: Apache-2.0
#include "kernel/counter_names.h"

#include <gmock/gmock.h>
#include <linux/perf_event.h>

#include <set>

namespace strata::kernel {
namespace {

using testing::HasSubstr;

TEST(CounterNames, HardwareAndSoftwareAreWhatThePerfHeaderNumbers) {
  EXPECT_EQ(known_counter("cycles"),
            (Counter{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}));
  EXPECT_EQ(known_counter("cache-misses"),
            (Counter{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}));
  EXPECT_EQ(known_counter("major-faults"),
            (Counter{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ}));
}

// perf_event_open(2): config is the cache, | operation << 8 | result << 16. The numbers are those
// that `perf stat -vv` shows for these names.
TEST(CounterNames, CachesArePutTogether) {
  EXPECT_EQ(known_counter("L1-dcache-loads")->config, 0u);
  EXPECT_EQ(known_counter("L1-dcache-load-misses")->config, 0x10000u);
  EXPECT_EQ(known_counter("LLC-store-misses")->config, 0x10102u);
  EXPECT_EQ(known_counter("dTLB-load-misses")->config, 0x10003u);
  EXPECT_EQ(known_counter("iTLB-loads")->config, 0x4u);
  EXPECT_EQ(known_counter("node-prefetches")->config, 0x206u);
  EXPECT_EQ(known_counter("LLC-loads")->type, static_cast<uint32_t>(PERF_TYPE_HW_CACHE));
  EXPECT_FALSE(known_counter("iTLB-stores"));
}

TEST(CounterNames, OtherNamesLeadToTheUsualOne) {
  EXPECT_EQ(known_counter("cpu-cycles")->name, "cycles");
  EXPECT_EQ(known_counter("cs")->name, "context-switches");
  EXPECT_EQ(known_counter("faults")->name, "page-faults");
}

TEST(CounterNames, EachIsThereOnce) {
  std::set<std::string> names;
  std::set<std::pair<uint32_t, uint64_t>> configs;
  for (const Counter& counter : known_counters()) {
    EXPECT_TRUE(names.insert(counter.name).second) << counter.name;
    EXPECT_TRUE(configs.insert({counter.type, counter.config}).second) << counter.name;
  }
}

TEST(CounterNames, AnUnknownNameIsAnErrorThatTellsWhatThereIs) {
  const Result<std::vector<Counter>> none = counters_by_name({"task-clock", "cash-misses"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("no counter is called 'cash-misses'; here there are"));
  EXPECT_FALSE(counters_by_name({""}));
}

TEST(CounterNames, OneThingThatIsNamedTwiceIsThereOnce) {
  const Result<std::vector<Counter>> counters = known_counters({"faults", "cs", "page-faults"});
  ASSERT_TRUE(counters);
  ASSERT_EQ(counters->size(), 2u);
  EXPECT_EQ((*counters)[0].name, "page-faults");
  EXPECT_EQ((*counters)[1].name, "context-switches");
}

TEST(CounterNames, WhatIsUsualIsThere) {
  for (const Counter& counter : usual_counters()) {
    EXPECT_TRUE(exists_here(counter)) << counter.name;
    EXPECT_EQ(counter.type, usual_counters().front().type) << "of the processor, or of the kernel";
  }
}

// What no processor has: of the last type, a number far beyond those in use.
TEST(CounterNames, WhatTheKernelDoesNotHaveDoesNotExist) {
  EXPECT_FALSE(exists_here({"", PERF_TYPE_SOFTWARE, 4711}));
}

}  // namespace
}  // namespace strata::kernel
