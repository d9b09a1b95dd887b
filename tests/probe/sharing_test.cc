// SPDX-License-Identifier: Apache-2.0
//
// Several collectors over one program, each for a session of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "collect/collector.h"
#include "stress.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;

class Sharing : public testing::Test {
 protected:
  void SetUp() override { setenv(abi::kSocketVariable, folder_.file("socket").c_str(), 1); }
  void TearDown() override { unsetenv(abi::kSocketVariable); }

  // Everything, or one site of the provider "stress".
  collect::CollectorOptions options(const char* site = nullptr) {
    collect::CollectorOptions options;
    options.socket = folder_.file("socket");
    options.folder = folder_.file("session" + std::to_string(sessions_++));
    std::filesystem::create_directory(options.folder);
    options.layout = small_layout(abi::Policy::Discard, true);
    if (site != nullptr) {
      collect::Site chosen;
      chosen.provider = "stress";
      chosen.name = site;
      options.sites.add(chosen);
    }
    return options;
  }
  std::unique_ptr<collect::Collector> start(const collect::CollectorOptions& options) {
    Result<std::unique_ptr<collect::Collector>> collector = collect::Collector::start(options);
    if (!collector) ADD_FAILURE() << collector.error().text();
    return collector ? std::move(*collector) : nullptr;
  }
  // Ends it. Its events, and losses.
  static collect::TraceTotals end(collect::Collector& collector) {
    const Status status = collector.stop();
    EXPECT_TRUE(status) << status.error().text();
    collect::TraceTotals sum;
    for (const collect::ProgramTraces::Told& trace : collector.traces()) {
      sum.events += trace.totals.events;
      sum.lost += trace.totals.lost;
      sum.lost_unknown += trace.totals.lost_unknown;
    }
    return sum;
  }

  TemporaryFolder folder_;
  int sessions_ = 0;
};

// Fires both sites, so often.
void fire_both(uint64_t count) {
  switch_on();
  for (uint64_t number = 0; number < count; ++number) {
    STRATA_TRACE(stress, step, 0, number);
    STRATA_TRACE(stress, handler, number);
  }
}

// The program: from stage 1 on, handing over between the parts.
[[noreturn]] void fire_in_three_parts(const SharedTold& told) {
  while (told->stage != 1) usleep(100);
  fire_both(100);
  hand_over(told, 2);
  fire_both(100);
  hand_over(told, 4);
  fire_both(100);
  _exit(0);
}

TEST_F(Sharing, EachSessionHasWhatItChose) {
  const auto steps = start(options("step"));
  const auto handlers = start(options("handler"));
  const auto others = start(options("other"));
  ASSERT_TRUE(steps && handlers && others);
  EXPECT_EQ(in_child([] { fire_both(500); }), 0);
  EXPECT_EQ(end(*handlers).events, 500u);
  EXPECT_EQ(in_child([] { fire_both(100); }), 0);
  const collect::TraceTotals kept = end(*steps);
  EXPECT_EQ(kept.events, 600u);
  EXPECT_EQ(kept.lost, 0u);
  EXPECT_EQ(end(*others).events, 0u);
  EXPECT_TRUE(others->traces().empty());
}

TEST_F(Sharing, AProgramGoesOnInItsRingsWhileTheOwnerOfTheSocketChanges) {
  const SharedTold told;
  const pid_t child = fork();  // before the collectors: it has nothing of theirs
  if (child == 0) {
    fire_in_three_parts(told);
  }
  const auto first = start(options());
  auto second = start(options());
  ASSERT_TRUE(first && second);
  std::unique_ptr<collect::Collector> third;
  told->stage = 1;
  when_handed_over(told, 2, [&] { EXPECT_EQ(end(*first).events, 200u); });
  when_handed_over(told, 4, [&] {
    third = start(options());
    EXPECT_EQ(end(*second).events, 400u);
  });
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(third);
  const collect::TraceTotals kept = end(*third);
  EXPECT_EQ(kept.events, 200u) << "from when it came";
  EXPECT_EQ(kept.lost, 0u);
}

TEST_F(Sharing, WhatASessionThatWasKilledLeftInTheRingsIsTakenOver) {
  const SharedTold told;
  const pid_t child = fork();
  if (child == 0) {
    fire_in_three_parts(told);
  }
  const collect::CollectorOptions of_the_killed = options();
  const pid_t killed = fork();
  if (killed == 0) {
    const auto collector = start(of_the_killed);
    told->stage = 1;
    while (collector->traces().empty() || collector->traces()[0].totals.events < 200) usleep(100);
    told->handled = 1;
    pause();
  }
  std::unique_ptr<collect::Collector> heir;
  when_handed_over(told, 2, [&] {
    while (told->handled == 0) usleep(100);
    kill(killed, SIGKILL);
    waitpid(killed, nullptr, 0);
  });
  when_handed_over(told, 4, [&] { heir = start(options()); });
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(heir);
  const collect::TraceTotals kept = end(*heir);
  EXPECT_EQ(kept.events, 400u);
  EXPECT_EQ(kept.lost + kept.lost_unknown, 0u);
}

TEST_F(Sharing, AProgramLeavesTheRingsOfAKilledSessionThatDidOtherwiseWhenTheyAreFull) {
  const SharedTold told;
  const pid_t child = fork();
  if (child == 0) {
    while (told->stage != 1) usleep(100);
    fire_both(100);
    hand_over(told, 2);
    fire_both(100);
    _exit(0);
  }
  collect::CollectorOptions of_the_killed = options();
  of_the_killed.layout.policy = abi::Policy::Overwrite;
  const pid_t killed = fork();
  if (killed == 0) {
    const auto collector = start(of_the_killed);
    told->stage = 1;
    pause();
  }
  std::unique_ptr<collect::Collector> next;
  when_handed_over(told, 2, [&] {
    kill(killed, SIGKILL);
    waitpid(killed, nullptr, 0);
    next = start(options());
  });
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(next);
  EXPECT_EQ(end(*next).events, 200u);
}

TEST_F(Sharing, ASessionThatCannotShareIsTold) {
  const auto first = start(options());
  ASSERT_TRUE(first);
  collect::CollectorOptions other = options();
  other.layout.policy = abi::Policy::Overwrite;
  const auto refused = collect::Collector::start(other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("rings are full"));
  other = options();
  other.clock = abi::Clock::MonotonicRaw;
  const auto on_another_clock = collect::Collector::start(other);
  ASSERT_FALSE(on_another_clock);
  EXPECT_THAT(on_another_clock.error().text(), testing::HasSubstr("clock"));
  std::vector<std::unique_ptr<collect::Collector>> more;
  while (more.size() + 1 < abi::kMaxReaders) more.push_back(start(options()));
  EXPECT_FALSE(collect::Collector::start(options())) << "there is no slot for it";
}

}  // namespace
}  // namespace strata::test
