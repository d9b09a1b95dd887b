// SPDX-License-Identifier: Apache-2.0
#include "collect/process_drain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "traced_program.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kOrder = abi::kFirstId;  // the program's first event
constexpr uint32_t kWords = abi::kFirstId + 1;
constexpr uint32_t kNap = abi::kFirstId + 2;
constexpr uint64_t kNoQuota = UINT64_MAX;

class ProcessDrain : public testing::Test {
 protected:
  ProcessDrain() {
    program_.declare({{"order"},
                      {"words", {"u32 value", "string text"}},
                      {"nap", {"u32 us"}, abi::SiteKind::Span}});
  }

  collect::ProcessDrain drain(uint64_t quota = kNoQuota) {
    options_.quota = quota;
    const auto memory = std::make_shared<collect::RingMemory>(memory_of(program_, small_ring()));
    const auto slot = collect::ReaderSlot::claim(*memory, collect::Begin::Start);
    return {{{4711, "shop", "/usr/bin/shop"}, {}, memory, *slot, collect::Begin::Start}, options_};
  }
  // All of it, to the end.
  std::vector<std::string> drained(uint64_t quota = kNoQuota) {
    collect::ProcessDrain rings = drain(quota);
    EXPECT_TRUE(rings.finish(traces_));
    return told();
  }
  std::vector<std::string> told() {
    EXPECT_TRUE(traces_.finish());
    return told_by(folder_.file("app-shop"));
  }

  RingMaker program_{small_ring()};
  TemporaryFolder folder_;
  collect::DrainOptions options_;
  collect::ProgramTraces traces_{folder_.path(), {}};
};

TEST_F(ProcessDrain, RecordsBecomeEventsOfTheirSites) {
  program_.add(kOrder, 1);
  program_.add(kWords, as_bytes(std::string_view("\x02\0\0\0some words\0", 15)));
  program_.add(kOrder, 3);
  EXPECT_THAT(drained(), ElementsAre("order 1", "words 2", "order 3"));
  EXPECT_EQ(traces_.told().front().totals.events, 3u);
}

TEST_F(ProcessDrain, ASpanTellsWhenItBegan) {
  program_.set_time(1000);
  program_.add(kNap, as_bytes(std::string_view("\xe8\x03\0\0\0\0\0\0\x07\0\0\0", 12)));
  EXPECT_THAT(drained(), ElementsAre("nap 1000"));
}

TEST_F(ProcessDrain, WhatCameMeanwhileIsDrainedTheNextTimeAndOnce) {
  program_.add(kOrder, 1);
  collect::ProcessDrain rings = drain();
  EXPECT_TRUE(rings.drain(traces_));
  program_.add(kOrder, 2);
  write_to(rings.memory(), program_);
  EXPECT_TRUE(rings.drain(traces_));
  EXPECT_TRUE(rings.drain(traces_));
  EXPECT_TRUE(rings.finish(traces_));
  EXPECT_THAT(told(), ElementsAre("order 1", "order 2"));
}

TEST_F(ProcessDrain, WhenItsStreamsHaveEndedItGoesOnInOtherTraces) {
  program_.add(kOrder, 1);
  program_.tell_lost(2);
  collect::ProcessDrain rings = drain();
  EXPECT_TRUE(rings.drain(traces_));
  EXPECT_TRUE(rings.end_streams());
  EXPECT_THAT(told(), ElementsAre("order 1", "lost 2"));
  program_.add(kOrder, 2);
  program_.set_lost(3);
  write_to(rings.memory(), program_);
  const TemporaryFolder next;
  collect::ProgramTraces others(next.path(), {});
  EXPECT_TRUE(rings.finish(others));
  EXPECT_TRUE(others.finish());
  EXPECT_THAT(told_by(next.file("app-shop")), ElementsAre("order 2", "lost 1"));
  EXPECT_THAT(told_by(folder_.file("app-shop")), ElementsAre("order 1", "lost 2"));
}

TEST_F(ProcessDrain, AProcessThatToldNothingLeavesNoTrace) {
  collect::ProcessDrain rings = drain();
  EXPECT_TRUE(rings.finish(traces_));
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(ProcessDrain, WhatTheRingHadNoRoomForIsALoss) {
  program_.add(kOrder, 1);
  program_.tell_lost(5);
  program_.add(kOrder, 2);
  program_.set_lost(7);
  EXPECT_THAT(drained(), ElementsAre("order 1", "order 2", "lost 7"));
  EXPECT_EQ(traces_.told().front().totals.lost, 7u);
}

TEST_F(ProcessDrain, ARecordOfAnUnknownSiteIsALoss) {
  program_.add(kOrder, 1);
  program_.add(kNap + 1, 2);
  program_.add(abi::kMaxId, 3);
  program_.add(kOrder, 4);
  EXPECT_THAT(drained(), ElementsAre("order 1", "order 4", "lost 2"));
}

TEST_F(ProcessDrain, ARecordThatDoesNotHoldItsFieldsIsALoss) {
  program_.add(kWords, as_bytes(std::string_view("\x02\0\0\0no end!!", 12)));
  program_.add(kNap, 1);
  program_.add(kOrder, 4);
  EXPECT_THAT(drained(), ElementsAre("order 4", "lost 2"));
}

TEST_F(ProcessDrain, ATimeThatIsYetToComeIsALossAndHoldsUpNobody) {
  program_.add(kOrder, 1);
  program_.set_time(UINT64_MAX - 1);
  program_.add(kOrder, 2);
  program_.set_time(1000);
  program_.add(kOrder, 3);
  EXPECT_THAT(drained(), ElementsAre("order 1", "order 3", "lost 1"));
}

TEST_F(ProcessDrain, ARecordOfAnotherClockIsALoss) {
  program_.open_block(0, abi::Clock::MonotonicRaw);
  program_.add(kOrder, 1);
  EXPECT_THAT(drained(), ElementsAre("lost 1"));
}

TEST_F(ProcessDrain, BytesThatAreNoRecordsAreALossOfUnknownSize) {
  program_.add(kOrder, 1);
  program_.put<uint64_t>(program_.head() + 8, 0);
  program_.set_head(program_.head() + 16);
  EXPECT_THAT(drained(), ElementsAre("order 1", "lost unknown"));
}

TEST_F(ProcessDrain, AHeadThatCannotBeIsALossOfUnknownSize) {
  program_.add(kOrder, 1);
  program_.set_head(uint64_t{1} << 40);
  EXPECT_THAT(drained(), ElementsAre("lost unknown"));
}

TEST_F(ProcessDrain, BeyondItsQuotaAProcessWritesNothingAndEachEventIsCounted) {
  constexpr uint32_t kEvents = 1000;
  constexpr uint32_t kFit = 10;
  for (uint32_t i = 0; i < kEvents; ++i) program_.add(kOrder, i);
  const std::vector<std::string> told = drained(kFit * sizeof(uint32_t) + 1);
  ASSERT_EQ(told.size(), kFit + 1);
  EXPECT_EQ(told[kFit - 1], "order 9");
  EXPECT_EQ(told.back(), "lost 990");
  EXPECT_EQ(traces_.told().front().totals.bytes, kFit * sizeof(uint32_t));
}

TEST_F(ProcessDrain, TheQuotaHoldsForAllRingsAndTimesTogether) {
  program_.add(kOrder, 1);
  collect::ProcessDrain rings = drain(sizeof(uint32_t));
  EXPECT_TRUE(rings.drain(traces_));
  program_.add(kOrder, 2);
  write_to(rings.memory(), program_);
  EXPECT_TRUE(rings.finish(traces_));
  EXPECT_THAT(told(), ElementsAre("order 1", "lost 1"));
}

}  // namespace
}  // namespace strata::test
