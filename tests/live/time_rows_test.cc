// SPDX-License-Identifier: Apache-2.0
#include "live/time_rows.h"

#include <gtest/gtest.h>

namespace strata::live {
namespace {

void add(Times& times, size_t bucket, uint64_t ns) {
  ++times.count;
  times.sum_ns += ns;
  ++times.buckets[bucket];
}

TEST(TimeRows, AddUpWhatCpusCountedSinceTheLastTime) {
  std::vector<Times> times(2 * 4);  // of two CPUs, four numbers each
  add(times[1], 3, 5);
  TimeRows rows;
  const TimeRows::Numbers numbers = {.begin = 1, .end = 3, .stride = 4};
  rows.begin(times, numbers);
  add(times[1], 3, 6);
  add(times[4 + 1], 10, 600);
  add(times[3], 1, 1);  // which is none of these numbers
  std::vector<period::LatencyRow> told;
  const auto name = [](uint32_t number) { return "number " + std::to_string(number); };
  rows.tell(times, numbers, period::Latency::Irq, name, told);
  ASSERT_EQ(told.size(), 1);
  EXPECT_EQ(told[0].name, "number 1");
  EXPECT_EQ(told[0].histogram.count, 2);
  EXPECT_EQ(told[0].histogram.sum_ns, 606);
  EXPECT_EQ(told[0].histogram.buckets[3], 1);
  EXPECT_EQ(told[0].histogram.buckets[10], 1);
  told.clear();
  rows.tell(times, numbers, period::Latency::Irq, name, told);
  EXPECT_TRUE(told.empty());
}

}  // namespace
}  // namespace strata::live
