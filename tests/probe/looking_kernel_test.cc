// SPDX-License-Identifier: Apache-2.0
//
// What a program does before it writes where its collector asked for it: filters, contexts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "collect/drain_filter.h"
#include "stress.h"

STRATA_EVENT(looking, words, STRATA_INFO, (string, text), (seq_u16, numbers), (u32, number));

namespace strata::test {
namespace {

namespace abi = probe::abi;

class Looking : public testing::TestWithParam<Way> {
 protected:
  static collect::RingLayout layout() {
    collect::RingLayout layout = small_layout(GetParam().policy, GetParam().per_cpu);
    layout.capacity_log2 = 22;
    return layout;
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, Looking, testing::Values(kWays[0], kWays[1], kWays[2]), way_name);

collect::SiteFilters filters(const std::string& site, const std::string& text) {
  collect::SiteFilters all;
  all[site].push_back(*trace::parse_filter(text));
  return all;
}

// What the collector does when the program has told of its sites.
void set_filters(Collector& collector, const collect::SiteFilters& wanted) {
  collect::RingMemory& memory = collector.memory(0);
  collect::Dictionary dictionary;
  ASSERT_TRUE(dictionary.update(memory.bytes(), memory.layout()));
  collect::DrainFilter(wanted, collect::ChosenSites(), 0).update(dictionary, memory, 0);
}

TEST_P(Looking, WhatAFilterDropsDoesNotReachTheRing) {
  Collector collector(layout());
  const SharedTold told;
  const collect::SiteFilters wanted =
      filters("stress:step", "number >= 900 and thread == 1 or number == 7");
  std::jthread collecting(
      [&] { when_handed_over(told, 1, [&] { set_filters(collector, wanted); }); });
  EXPECT_EQ(in_child([&] {
              switch_on();
              fire(told, 0, 10);  // unfiltered
              hand_over(told, 1);
              fire(told, 1, 1000);
              STRATA_TRACE(stress, handler, 5);  // of another site
            }),
            0);
  const KeptRings kept = collector.read();
  EXPECT_EQ(kept.lost, 0u);
  EXPECT_EQ(kept.damaged, 0u);
  EXPECT_EQ(kept.kept(), 10u + 101u + 1u);
}

TEST_P(Looking, FiltersOnTextsAndOnWhatLiesBehindThem) {
  Collector collector(layout());
  const SharedTold told;
  const collect::SiteFilters wanted =
      filters("looking:words", "text ~ 'a*' and number > 7 or text == exactly");
  std::jthread collecting(
      [&] { when_handed_over(told, 1, [&] { set_filters(collector, wanted); }); });
  EXPECT_EQ(in_child([&] {
              strata_flag_looking__words = 0x10000;
              const std::vector<uint16_t> some(3, 9);
              STRATA_TRACE(looking, words, "", some, 1);
              hand_over(told, 1);
              STRATA_TRACE(looking, words, "apple", some, 7);
              STRATA_TRACE(looking, words, "apples", some, 8);
              STRATA_TRACE(looking, words, "pear", some, 9);
              STRATA_TRACE(looking, words, "exactly", std::vector<uint16_t>(), 2);
              STRATA_TRACE(looking, words, "exactly so", some, 3);
              STRATA_TRACE(looking, words, "a", some, 10);
            }),
            0);
  std::vector<uint32_t> numbers;
  for (const KeptRecord& record : collector.read().all())
    numbers.push_back(record.at<uint32_t>(record.payload.size() - sizeof(uint32_t)));
  EXPECT_THAT(numbers, testing::UnorderedElementsAre(1, 8, 2, 10));
}

TEST_P(Looking, FiltersMayBeReplacedWhileTheyAreLookedAt) {
  Collector collector(layout());
  const SharedTold told;
  // Two ways to say the same.
  const std::vector<collect::SiteFilters> ways = {
      filters("stress:step", "number & 1"),
      filters("stress:step", "not thread == 0 and number & 1")};
  std::jthread collecting([&] {
    when_handed_over(told, 1, [&] { set_filters(collector, ways[0]); });
    collect::RingMemory& memory = collector.memory(0);
    collect::Dictionary dictionary;
    ASSERT_TRUE(dictionary.update(memory.bytes(), memory.layout()));
    std::vector<std::vector<collect::SitePredicate>> predicates(2);
    for (size_t way = 0; way < 2; ++way)
      for (uint32_t id = abi::kFirstId; dictionary.find(id) != nullptr; ++id)
        if (dictionary.find(id)->name == "step")
          predicates[way].push_back(
              {id, *collect::make_predicate(ways[way].begin()->second, *dictionary.find(id))});
    for (size_t i = 0; told->stage != 3; ++i) {
      memory.set_filters(0, predicates[i % 2]);
      usleep(20);  // not so often that the program gives up looking
    }
  });
  EXPECT_EQ(in_child([&] {
              switch_on();
              fire(told, 0, 1);
              hand_over(told, 1);
              fire(told, 1, 20'000);
              told->stage = 3;
            }),
            0);
  told->stage = 3;
  const KeptRings kept = collector.read();
  EXPECT_EQ(kept.kept() + kept.lost, 1u + 10'000u);
  for (const KeptRecord& record : kept.all())
    EXPECT_TRUE(record.at<uint32_t>(0) == 0 || record.at<uint64_t>(4) % 2 == 1);
}

TEST_P(Looking, ARecordIsWrittenWhereAnyReaderWantsIt) {
  Collector collector(layout());
  const SharedTold told;
  const collect::SiteFilters none = filters("stress:step", "number < 0");
  // As another reader would, that shares the memory.
  const auto say = [&](uint32_t wanted) {
    auto* const header = const_cast<std::byte*>(collector.memory(0).bytes().data());
    auto& filtering = reinterpret_cast<abi::Header*>(header)->filtering;
    __atomic_store_n(&filtering[static_cast<uint32_t>(GetParam().policy)][abi::kMaxReaders - 1],
                     wanted, __ATOMIC_RELEASE);
  };
  std::jthread collecting([&] {
    when_handed_over(told, 1, [&] { set_filters(collector, none); });
    when_handed_over(told, 3, [&] { say(abi::kEverything); });
    when_handed_over(told, 5, [&] { say(abi::kNobody); });
  });
  EXPECT_EQ(in_child([&] {
              switch_on();
              fire(told, 0, 1);
              for (uint32_t i = 0; i < 3; ++i) {
                hand_over(told, static_cast<int>(2 * i + 1));
                fire(told, i + 1, 10);
              }
            }),
            0);
  const KeptRings kept = collector.read();
  EXPECT_EQ(kept.kept(), 1u + 10u);
  for (const KeptRecord& record : kept.all())
    EXPECT_THAT(record.at<uint32_t>(0), testing::AnyOf(0u, 2u));
}

// A thread's number by what is shared, its CPU by the event.
void tell_self(const SharedTold& told, uint32_t thread) {
  told->completed[thread] = static_cast<uint64_t>(gettid());
  STRATA_TRACE(stress, step, thread, static_cast<uint64_t>(sched_getcpu()));
}

void stay_on_a_cpu(unsigned number) {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpus[number % cpus.size()], &one);
  sched_setaffinity(0, sizeof one, &one);
}

TEST_P(Looking, ContextsAreTheThreads) {
  Collector collector(layout(), abi::Clock::Tsc, abi::kAllContexts);
  const SharedTold told;
  EXPECT_EQ(in_child([&] {
              switch_on();
              prctl(PR_SET_NAME, "first");
              for (unsigned i = 0; i < 4; ++i) {
                stay_on_a_cpu(i);
                tell_self(told, 0);
              }
              std::thread([&] {
                prctl(PR_SET_NAME, "second-is-long!");
                tell_self(told, 1);
              }).join();
              in_child([&] {  // a fork: another thread, and other rings
                prctl(PR_SET_NAME, "third");
                tell_self(told, 2);
              });
              tell_self(told, 0);
            }),
            0);
  ASSERT_EQ(collector.attached(), 2u);
  const std::vector<std::string> names = {"first", "second-is-long!", "third"};
  std::vector<KeptRecord> records = collector.read(0).all();
  EXPECT_EQ(records.size(), 6u);
  for (KeptRecord& record : collector.read(1).all()) records.push_back(std::move(record));
  EXPECT_EQ(records.size(), 7u);
  for (const KeptRecord& record : records) {
    const auto thread = record.at<uint32_t>(0);
    EXPECT_EQ(record.contexts.mask, abi::kAllContexts);
    EXPECT_EQ(static_cast<uint64_t>(record.contexts.tid), told->completed[thread]);
    EXPECT_STREQ(record.contexts.name.data(), names[thread].c_str());
    EXPECT_EQ(record.contexts.cpu, record.at<uint64_t>(4));
  }
}

TEST_P(Looking, OnlyTheContextsThatWereAskedFor) {
  Collector collector(layout(), abi::Clock::MonotonicRaw, abi::kCpuContext);
  const SharedTold told;
  EXPECT_EQ(in_child([&] {
              switch_on();
              stay_on_a_cpu(1);
              tell_self(told, 0);
            }),
            0);
  const std::vector<KeptRecord> records = collector.read().all();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].contexts.mask, abi::kCpuContext);
  EXPECT_EQ(records[0].contexts.tid, -1);
  EXPECT_EQ(records[0].contexts.cpu, records[0].at<uint64_t>(4));
}

TEST_P(Looking, ARecordThatFillsItsRoomGoesWithoutContexts) {
  Collector collector(layout(), abi::Clock::Tsc, abi::kAllContexts);
  EXPECT_EQ(in_child([&] {
              strata_flag_looking__words = 0x10000;
              const std::vector<uint16_t> numbers(1, 1);
              STRATA_TRACE(looking, words, std::string(5000, 'x'), numbers, 1);
              STRATA_TRACE(looking, words, std::string(3000, 'x'), numbers, 2);
            }),
            0);
  const std::vector<KeptRecord> records = collector.read().all();
  ASSERT_EQ(records.size(), 2u);
  for (const KeptRecord& record : records)
    EXPECT_EQ(record.contexts.mask, record.truncated ? 0u : uint32_t{abi::kAllContexts});
}

}  // namespace
}  // namespace strata::test
