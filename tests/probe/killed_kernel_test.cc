// SPDX-License-Identifier: Apache-2.0
//
// A program that is killed loses nothing: every call that returned is in its ring, or counted.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "stress.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;

constexpr int kKills = 200;

class Killed : public testing::TestWithParam<Way> {
 protected:
  static collect::RingLayout layout() {
    collect::RingLayout layout = small_layout(GetParam().policy, GetParam().per_cpu);
    // Some of the programs fill it, some do not.
    layout.capacity_log2 = 21;
    layout.wait_us = 200;
    return layout;
  }

  // Starts a child that fires in so many threads, and kills it while it does.
  void kill_one(Collector& collector, const SharedTold& told, uint32_t threads) {
    const pid_t child = fork();
    if (child == 0) {
      switch_on();
      std::vector<std::thread> others;
      for (uint32_t i = 1; i < threads; ++i) others.emplace_back([&, i] { fire(told, i); });
      fire(told, 0);
      _exit(1);
    }
    while (!collector.is_used() || told->all_completed() == 0) usleep(50);
    usleep(std::uniform_int_distribution<unsigned>(0, 3000)(random_));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  std::mt19937 random_{7};
};

// Numbers of a thread, from all rings, in order.
std::vector<uint64_t> numbers_of(const KeptRings& kept, uint32_t thread) {
  std::vector<uint64_t> numbers;
  for (const auto& ring : kept.rings)
    for (const KeptRecord& record : ring)
      if (record.at<uint32_t>(0) == thread) numbers.push_back(record.at<uint64_t>(4));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void expect_times_in_order(const KeptRings& kept) {
  for (const auto& ring : kept.rings)
    EXPECT_TRUE(std::is_sorted(ring.begin(), ring.end(),
                               [](const auto& a, const auto& b) { return a.time < b.time; }));
}

void expect_completed(const KeptRings& kept, const SharedTold& told, uint32_t threads,
                      bool overwrites) {
  EXPECT_EQ(kept.damaged, 0u);
  expect_times_in_order(kept);
  if (!overwrites) {
    // A call may have been made and not yet told.
    EXPECT_GE(kept.kept() + kept.lost, told->all_completed());
    EXPECT_LE(kept.kept() + kept.lost, told->all_completed() + threads);
  } else {
    EXPECT_EQ(kept.lost, 0u);
  }
  for (uint32_t thread = 0; thread < threads; ++thread) {
    const std::vector<uint64_t> numbers = numbers_of(kept, thread);
    EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end()) << "twice";
    const uint64_t completed = told->completed[thread];
    if (!overwrites || completed == 0) continue;
    // From the oldest that every ring still has: all of them. With several threads, a thread may
    // have been off for longer than its last ring kept its records.
    if (threads > 1) continue;
    uint64_t from = 0;
    for (const auto& ring : kept.rings) {
      if (ring.empty()) continue;
      from = std::max(from, ring.front().at<uint64_t>(4));
    }
    const auto first = std::lower_bound(numbers.begin(), numbers.end(), from);
    ASSERT_NE(first, numbers.end());
    EXPECT_EQ(static_cast<uint64_t>(numbers.end() - first), numbers.back() - *first + 1) << "gap";
    EXPECT_GE(numbers.back() + 1, completed);
  }
}

TEST_P(Killed, EveryCompletedCallIsThere) {
  for (int round = 0; round < kKills && !HasFailure(); ++round) {
    const uint32_t threads = 1 + round % 3;
    Collector collector(layout());
    const SharedTold told;
    kill_one(collector, told, threads);
    ASSERT_EQ(collector.attached(), 1u);
    expect_completed(collector.read(), told, threads, GetParam().policy == abi::Policy::Overwrite);
  }
}

TEST_P(Killed, EveryCompletedCallIsThereForEveryPolicyThatIsWanted) {
  for (int round = 0; round < kKills / 4 && !HasFailure(); ++round) {
    const uint32_t threads = 1 + round % 3;
    Collector collector(layout());
    for (const abi::Policy policy : kPolicies) collector.want(policy);
    const SharedTold told;
    kill_one(collector, told, threads);
    for (const abi::Policy policy : kPolicies)
      expect_completed(collector.read(0, policy), told, threads, policy == abi::Policy::Overwrite);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Killed, testing::ValuesIn(kWays), way_name);

}  // namespace
}  // namespace strata::test
