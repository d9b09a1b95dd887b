// SPDX-License-Identifier: Apache-2.0
//
// Performance counters read without a system call: by pages that are made up here, since machines
// without such counters are to test this, too.
#include "probe/counter_page.h"

#include <gtest/gtest.h>

#include <vector>

namespace strata::probe {
namespace {

// One that counts, with a counter of 48 bits in the processor.
perf_event_mmap_page counting(int64_t offset) {
  perf_event_mmap_page page{};
  page.lock = 2;
  page.index = 3;
  page.offset = offset;
  page.pmc_width = 48;
  page.cap_user_rdpmc = 1;
  return page;
}

// The processor's counters, as instructions read them.
struct Processor {
  uint64_t value = 0;
  std::vector<uint32_t> asked = {};
  uint64_t operator()(uint32_t number) {
    asked.push_back(number);
    return value;
  }
};

std::optional<uint64_t> read(const perf_event_mmap_page& page, Processor& processor) {
  return read_counter(page, [&](uint32_t number) { return processor(number); });
}

TEST(CounterPage, IsTheOffsetAndWhatTheProcessorCounted) {
  Processor processor{1000};
  EXPECT_EQ(read(counting(5'000'000'000'000), processor), 5'000'000'001'000u);
  EXPECT_EQ(processor.asked, std::vector<uint32_t>{2});  // index - 1
}

TEST(CounterPage, TheProcessorsCounterIsSigned) {
  // The kernel lets it begin below zero, to be interrupted when it gets there.
  Processor processor{(uint64_t{1} << 48) - 300};
  EXPECT_EQ(read(counting(1000), processor), 700u);
  processor.value = (uint64_t{1} << 47) - 1;  // the largest one that is not below zero
  EXPECT_EQ(read(counting(1), processor), uint64_t{1} << 47);
}

TEST(CounterPage, BitsBeyondTheWidthAreNoneOfIt) {
  Processor processor{uint64_t{0xabc} << 48 | 7};
  EXPECT_EQ(read(counting(0), processor), 7u);
  perf_event_mmap_page page = counting(10);
  page.pmc_width = 64;
  processor.value = ~uint64_t{0};
  EXPECT_EQ(read(page, processor), 9u);
  page.pmc_width = 1;
  processor.value = 1;
  EXPECT_EQ(read(page, processor), 9u);
}

TEST(CounterPage, WhatDoesNotCountIsNotAskedFor) {
  perf_event_mmap_page off = counting(77);
  off.index = 0;
  perf_event_mmap_page forbidden = counting(77);
  forbidden.cap_user_rdpmc = 0;
  perf_event_mmap_page no_width = counting(77);
  no_width.pmc_width = 0;
  perf_event_mmap_page too_wide = counting(77);
  too_wide.pmc_width = 65;
  for (const perf_event_mmap_page& page : {off, forbidden, no_width, too_wide}) {
    Processor processor;
    EXPECT_EQ(read(page, processor), std::nullopt);
    EXPECT_TRUE(processor.asked.empty());
  }
}

TEST(CounterPage, IsReadAgainWhereTheKernelChangedItMeanwhile) {
  perf_event_mmap_page page = counting(100);
  int times = 0;
  const auto value = read_counter(page, [&](uint32_t number) -> uint64_t {
    if (++times > 1) {
      EXPECT_EQ(number, 5u);
      return 20;
    }
    // The thread was elsewhere: its count was taken into the offset, and it has another counter.
    page.lock += 2;
    page.offset = 4000;
    page.index = 6;
    return 999'999;
  });
  EXPECT_EQ(value, 4020u);
  EXPECT_EQ(times, 2);
}

TEST(CounterPage, StopsCountingMeanwhile) {
  perf_event_mmap_page page = counting(100);
  const auto value = read_counter(page, [&](uint32_t) -> uint64_t {
    ++page.lock;
    page.index = 0;
    return 1;
  });
  EXPECT_EQ(value, std::nullopt);
}

TEST(CounterPage, ThatChangesEachTimeIsGivenUp) {
  perf_event_mmap_page page = counting(100);
  int times = 0;
  const auto value = read_counter(page, [&](uint32_t) -> uint64_t {
    ++page.lock;
    ++times;
    return 1;
  });
  EXPECT_EQ(value, std::nullopt);
  EXPECT_GT(times, 1);
  EXPECT_LE(times, 1000);
}

}  // namespace
}  // namespace strata::probe
