// SPDX-License-Identifier: Apache-2.0
//
// Several sessions over one program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sessions.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;

using Sharing = Sessions;

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

TEST_F(Sharing, AProgramGoesOnInOtherRingsAfterAKilledSessionThatDidOtherwiseWhenTheyAreFull) {
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

TEST_F(Sharing, ProgramsThatAskWhileTheSocketChangesHandsAreServed) {
  for (int round = 0; round < 3; ++round) {
    const SharedTold told;
    const pid_t parent = fork();  // of many short programs, which have nothing of the collectors'
    if (parent == 0) {
      while (told->stage != 1) usleep(100);
      for (; told->stage == 1; ++told->handled) in_child([] { fire_both(5); });
      _exit(0);
    }
    const auto first = start(options());
    const auto stays = start(options());
    const auto another = start(options());
    ASSERT_TRUE(first && stays && another);
    const auto wait_for_more = [&] {
      for (const uint64_t seen = told->handled; told->handled < seen + 3;) usleep(100);
    };
    told->stage = 1;
    wait_for_more();
    end(*first);
    wait_for_more();
    end(*another);  // which may own the socket now
    wait_for_more();
    told->stage = 2;
    waitpid(parent, nullptr, 0);
    const collect::TraceTotals kept = end(*stays);
    EXPECT_EQ(kept.events, 10 * told->handled);
    EXPECT_EQ(kept.lost, 0u);
  }
}

TEST_F(Sharing, ASessionThatCannotShareIsTold) {
  const auto first = start(options());
  ASSERT_TRUE(first);
  collect::CollectorOptions other = options();
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
