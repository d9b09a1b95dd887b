// SPDX-License-Identifier: Apache-2.0
//
// Sessions over one program that do different things when rings are full, at the same time.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "collect/left_rings.h"
#include "sessions.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;

class Policies : public Sessions {
 protected:
  collect::CollectorOptions options(abi::Policy policy) {
    collect::CollectorOptions options = Sessions::options();
    options.layout.policy = policy;
    options.layout.wait_us = 60'000'000;
    return options;
  }
};

// The numbers of one thread's steps, from all rings, in order.
std::vector<uint64_t> steps_of(const KeptRings& kept) {
  std::vector<uint64_t> numbers;
  for (const KeptRecord& record : kept.all())
    if (record.site == "stress:step") numbers.push_back(record.at<uint64_t>(4));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// What the only program's rings hold, of a flight.
KeptRings held_by(const collect::Collector& flight) {
  const Result<std::vector<collect::RingsCopy>> copies = flight.copy();
  EXPECT_TRUE(copies) << copies.error().text();
  if (!copies || copies->size() != 1) {
    ADD_FAILURE() << "not one program's rings";
    return {};
  }
  return read_rings(copies->front().memory);
}

// From the oldest that every ring still has, up to `end`: none is missing, none is twice.
void expect_last(const KeptRings& kept, uint64_t end) {
  uint64_t from = 0;
  for (const auto& ring : kept.rings)
    if (!ring.empty()) from = std::max(from, ring.front().at<uint64_t>(4));
  const std::vector<uint64_t> numbers = steps_of(kept);
  uint64_t next = from;
  for (auto number = std::ranges::lower_bound(numbers, from); number != numbers.end(); ++number)
    ASSERT_EQ(*number, next++);
  EXPECT_EQ(next, end);
}

TEST_F(Policies, EachSessionIsExact) {
  constexpr uint64_t kEvents = 100'000;  // many times what rings hold
  const SharedTold told;
  const pid_t child = fork();  // before the collectors: it has nothing of theirs
  if (child == 0) {
    while (told->stage != 1) usleep(100);
    switch_on();
    fire(told, 0, kEvents);
    _exit(0);
  }
  const auto lossless = start(options(abi::Policy::Discard));
  const auto flight = start(options(abi::Policy::Overwrite));
  const auto blocking = start(options(abi::Policy::Block));
  ASSERT_TRUE(lossless && flight && blocking);
  told->stage = 1;
  waitpid(child, nullptr, 0);

  const KeptRings held = held_by(*flight);
  EXPECT_EQ(held.lost + held.damaged, 0u);
  expect_last(held, kEvents);
  EXPECT_LT(held.kept(), kEvents) << "nothing was overwritten";
  const collect::TraceTotals discarded = end(*lossless);
  EXPECT_EQ(discarded.events + discarded.lost, kEvents);
  EXPECT_EQ(discarded.lost_unknown, 0u);
  const collect::TraceTotals waited = end(*blocking);
  EXPECT_EQ(waited.events, kEvents);
  EXPECT_EQ(waited.lost + waited.lost_unknown, 0u);
}

TEST_F(Policies, RingsThatAreFullForOneAreNotForTheOthers) {
  constexpr uint64_t kEvents = 200'000;
  Collector collector(small_layout(abi::Policy::Discard, true));  // which takes nothing
  collector.want(abi::Policy::Overwrite);
  EXPECT_EQ(in_child([] {
              switch_on();
              fire(SharedTold(), 0, kEvents);
            }),
            0);
  const KeptRings first = collector.read(0, abi::Policy::Discard);
  EXPECT_EQ(first.kept() + first.lost, kEvents);
  EXPECT_GT(first.lost, 0u);
  EXPECT_EQ(steps_of(first).front(), 0u);
  const KeptRings last = collector.read(0, abi::Policy::Overwrite);
  EXPECT_EQ(last.lost, 0u);
  expect_last(last, kEvents);
  const KeptRings none = collector.read(0, abi::Policy::Block);
  EXPECT_EQ(none.kept() + none.lost, 0u) << "nobody wanted it";
}

TEST_F(Policies, ComeAndGoWhileAProgramRuns) {
  const SharedTold told;
  const pid_t child = fork();
  if (child == 0) fire_in_three_parts(told);
  const auto lossless = start(options(abi::Policy::Discard));
  ASSERT_TRUE(lossless);
  std::unique_ptr<collect::Collector> flight;
  std::unique_ptr<collect::Collector> blocking;
  told->stage = 1;
  when_handed_over(told, 2, [&] {
    flight = start(options(abi::Policy::Overwrite));
    blocking = start(options(abi::Policy::Block));
  });
  when_handed_over(told, 4, [&] {
    const collect::TraceTotals kept = end(*lossless);
    EXPECT_EQ(kept.events, 400u);
    EXPECT_EQ(kept.lost, 0u);
  });
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(flight && blocking);
  EXPECT_EQ(held_by(*flight).kept(), 400u) << "from when it came";
  const collect::TraceTotals kept = end(*blocking);
  EXPECT_EQ(kept.events, 400u);
  EXPECT_EQ(kept.lost, 0u);
}

TEST_F(Policies, OneThatWasLeftIsNotOnesThatComesLater) {
  const SharedTold told;
  const pid_t child = fork();
  if (child == 0) fire_in_three_parts(told);
  const auto flight = start(options(abi::Policy::Overwrite));
  auto lossless = start(options(abi::Policy::Discard));
  ASSERT_TRUE(flight && lossless);
  told->stage = 1;
  when_handed_over(told, 2, [&] { EXPECT_EQ(end(*lossless).events, 200u); });
  when_handed_over(told, 4, [&] { lossless = start(options(abi::Policy::Discard)); });
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(lossless);
  EXPECT_EQ(end(*lossless).events, 200u) << "of the last part alone";
  EXPECT_EQ(held_by(*flight).kept(), 600u);
}

// The program's memory, as anybody has it who may trace it.
Result<collect::RingMemory> memory_of(pid_t program) {
  for (collect::LeftRings& left : collect::find_left_rings())
    if (left.process.pid == program)
      return collect::RingMemory::open(std::move(left.memory), abi::Policy::Discard, "test");
  return Error{"", {}, "it has none"};
}

uint32_t wanted_by(pid_t program) {
  const Result<collect::RingMemory> memory = memory_of(program);
  return memory ? memory->clock_word().said().wanted : 0;
}

TEST_F(Policies, AreForgottenWhenTheirOnlySessionIsKilled) {
  const SharedTold told;
  const pid_t child = fork();
  if (child == 0) fire_in_three_parts(told);
  const auto lossless = start(options(abi::Policy::Discard));
  ASSERT_TRUE(lossless);
  const collect::CollectorOptions of_the_killed = options(abi::Policy::Overwrite);
  const pid_t killed = fork();
  if (killed == 0) {
    const auto flight = start(of_the_killed);
    told->stage = 1;
    pause();
  }
  when_handed_over(told, 2, [&] {
    EXPECT_EQ(wanted_by(child),
              abi::policy_bit(abi::Policy::Discard) | abi::policy_bit(abi::Policy::Overwrite));
    kill(killed, SIGKILL);
    waitpid(killed, nullptr, 0);
    while (wanted_by(child) != abi::policy_bit(abi::Policy::Discard)) usleep(1000);
  });
  when_handed_over(told, 4, [] {});
  waitpid(child, nullptr, 0);
  const collect::TraceTotals kept = end(*lossless);
  EXPECT_EQ(kept.events, 600u);
  EXPECT_EQ(kept.lost, 0u);
}

// Whether a reader of the policy has told what it does not want.
bool has_told(pid_t program, abi::Policy policy) {
  const Result<collect::RingMemory> memory = memory_of(program);
  if (!memory) return false;
  const collect::ReaderTable table = memory->readers();
  return std::ranges::any_of(table.filtering[static_cast<uint32_t>(policy)], [](uint32_t& says) {
    return __atomic_load_n(&says, __ATOMIC_ACQUIRE) > abi::kEverything;
  });
}

TEST_F(Policies, RingsAreNotFilledWithWhatTheirReadersHaveNotChosen) {
  const SharedTold told;
  const pid_t child = fork();
  if (child == 0) fire_in_three_parts(told);
  collect::CollectorOptions of_handlers = Sessions::options("handler");
  of_handlers.layout.policy = abi::Policy::Overwrite;
  const auto flight = start(of_handlers);
  const auto steps = start(Sessions::options("step"));
  ASSERT_TRUE(flight && steps);
  told->stage = 1;
  when_handed_over(told, 2, [&] {
    while (!has_told(child, abi::Policy::Overwrite) || !has_told(child, abi::Policy::Discard))
      usleep(1000);
  });
  when_handed_over(told, 4, [] {});
  waitpid(child, nullptr, 0);
  const KeptRings held = held_by(*flight);
  EXPECT_EQ(steps_of(held).size(), 100u) << "of the first part, when nothing was told yet";
  EXPECT_EQ(held.kept(), 400u);
  EXPECT_EQ(end(*steps).events, 300u);
}

}  // namespace
}  // namespace strata::test
