// SPDX-License-Identifier: Apache-2.0
#include "collect/ring_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ring_maker.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;
using testing::ElementsAre;
using testing::IsEmpty;

collect::RingLayout one_ring(abi::Policy policy) {
  collect::RingLayout layout;
  layout.policy = policy;
  layout.capacity_log2 = 16;
  layout.block_log2 = 14;
  layout.dictionary_size = 64;
  return layout;
}

// Values as they came, losses as negative numbers.
struct Seen {
  std::vector<int64_t> values;
  void record(const collect::RingRecord& record) {
    values.push_back(load_once<uint32_t>(record.payload.data()));
  }
  void lost(uint64_t events) { values.push_back(-static_cast<int64_t>(events)); }
};

class RingReader : public testing::Test {
 protected:
  std::vector<int64_t> read() {
    Seen seen;
    reader_.read_all(maker_.bytes(), seen);
    return seen.values;
  }

  RingMaker maker_{one_ring(abi::Policy::Discard)};
  collect::RingReader reader_{one_ring(abi::Policy::Discard), 0};
};

TEST_F(RingReader, GivesEachRecordOnce) {
  EXPECT_THAT(read(), IsEmpty());
  maker_.add(16, 1);
  maker_.add(17, 2);
  EXPECT_THAT(read(), ElementsAre(1, 2));
  EXPECT_THAT(read(), IsEmpty());
  maker_.add(16, 3);
  EXPECT_THAT(read(), ElementsAre(3));
  EXPECT_EQ(reader_.position(), maker_.head());
}

TEST_F(RingReader, LossesAreToldWhereTheyHappenedAndOnce) {
  maker_.add(16, 1);
  maker_.tell_lost(5);
  maker_.add(16, 2);
  maker_.open_block(7);
  maker_.add(16, 3);
  maker_.set_lost(10);
  EXPECT_THAT(read(), ElementsAre(1, -5, 2, -2, 3, -3));
  maker_.tell_lost(10);
  maker_.add(16, 4);
  EXPECT_THAT(read(), ElementsAre(4));
}

TEST_F(RingReader, WhatIsNoRecordIsPassedOverUpToTheNextBlock) {
  maker_.add(16, 1);
  const uint64_t bad = maker_.head();
  maker_.add(16, 2);
  maker_.put<uint32_t>(bad + 8, abi::make_word(16, 4096 + 8));
  maker_.open_block();
  maker_.add(16, 3);
  EXPECT_THAT(read(), ElementsAre(1, 3));
  EXPECT_GT(reader_.damaged(), 0u);
  EXPECT_FALSE(reader_.broken());
}

TEST_F(RingReader, ContextsPrecedeTheFields) {
  maker_.add(16, abi::kCpuContext);  // their mask, then what follows it
  const uint64_t behind_mask = maker_.head();
  maker_.add(16, 0);
  maker_.put<uint32_t>(behind_mask - 8, abi::make_word(16, 32) | abi::kContextBit);
  maker_.put<uint64_t>(behind_mask, uint64_t{17} | uint64_t{99} << 32);  // the CPU, then the field
  struct Kept {
    std::optional<collect::RecordContexts> contexts;
    uint32_t field = 0;
    void record(const collect::RingRecord& record) {
      contexts = collect::RecordContexts::read(record.contexts);
      field = load_once<uint32_t>(record.payload.data());
    }
    void lost(uint64_t) {}
  } kept;
  reader_.read_all(maker_.bytes(), kept);
  ASSERT_TRUE(kept.contexts);
  EXPECT_EQ(kept.contexts->mask, abi::kCpuContext);
  EXPECT_EQ(kept.contexts->cpu, 17u);
  EXPECT_EQ(kept.field, 99u);
}

TEST(RecordContexts, CountersFollowTheOthersInTheOrderOfTheirBits) {
  const uint32_t mask = abi::kTidContext | abi::counter_context(0) | abi::counter_context(3);
  std::vector<std::byte> bytes(abi::context_size(mask));
  ASSERT_EQ(bytes.size(), 4u + 4u + 8u + 8u);
  const int32_t tid = 4711;
  const uint64_t cycles = 0x123456789abcdef0, misses = 42;
  std::memcpy(bytes.data(), &mask, 4);
  std::memcpy(bytes.data() + 4, &tid, 4);
  std::memcpy(bytes.data() + 8, &cycles, 8);
  std::memcpy(bytes.data() + 16, &misses, 8);
  const std::optional<collect::RecordContexts> read = collect::RecordContexts::read(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->tid, 4711);
  EXPECT_THAT(read->counts, ElementsAre(cycles, abi::kNoCount, abi::kNoCount, misses));
  EXPECT_FALSE(collect::RecordContexts::read(Bytes(bytes).first(bytes.size() - 1)));
}

TEST_F(RingReader, ContextsThatAreNoneArePassedOverUpToTheNextBlock) {
  for (const uint32_t mask : {uint32_t{abi::kTidContext}, uint32_t{128}}) {  // too short; unknown
    maker_.open_block();
    maker_.add(16, mask);
    maker_.put<uint32_t>(maker_.head() - 8, abi::make_word(16, 16) | abi::kContextBit);
    maker_.open_block();
    maker_.add(16, 3);
    EXPECT_THAT(read(), ElementsAre(3)) << mask;
  }
  EXPECT_GT(reader_.damaged(), 0u);
}

TEST_F(RingReader, ABlockThatIsNotTheOneExpectedIsPassedOver) {
  maker_.add(16, 1);
  maker_.put<uint64_t>(offsetof(abi::Block, position), 8);
  maker_.open_block();
  maker_.add(16, 2);
  EXPECT_THAT(read(), ElementsAre(2));
}

TEST_F(RingReader, AHeadThatCannotBeEndsTheReading) {
  for (const uint64_t head : {uint64_t{1} << 16 | 8, ~uint64_t{7}, uint64_t{33}}) {
    collect::RingReader reader(one_ring(abi::Policy::Discard), 0);
    maker_.set_head(head);
    Seen seen;
    reader.read_all(maker_.bytes(), seen);
    EXPECT_THAT(seen.values, IsEmpty());
    EXPECT_TRUE(reader.broken()) << head;
  }
}

TEST_F(RingReader, WhoJoinsHearsOfNothingThatWasBefore) {
  maker_.open_block(0, abi::Clock::TscOrdered);
  maker_.add(16, 1);
  maker_.set_lost(5);
  reader_.start_at(maker_.bytes(), maker_.head(), true);
  EXPECT_THAT(read(), IsEmpty());
  maker_.tell_lost(5);
  maker_.add(16, 2);
  maker_.set_lost(7);
  struct Clocks : Seen {
    void record(const collect::RingRecord& record) {
      EXPECT_EQ(record.clock, abi::Clock::TscOrdered);
      Seen::record(record);
    }
  } clocks;
  reader_.read_all(maker_.bytes(), clocks);
  EXPECT_THAT(clocks.values, ElementsAre(2, -2));
}

TEST_F(RingReader, WhoTakesOverHearsOfWhatWasLostSince) {
  maker_.add(16, 1);
  maker_.tell_lost(5);
  maker_.add(16, 2);
  const uint64_t left = maker_.head();
  maker_.add(16, 3);
  maker_.set_lost(8);
  reader_.start_at(maker_.bytes(), left, false);
  EXPECT_THAT(read(), ElementsAre(3, -3));
  EXPECT_EQ(reader_.damaged(), 0u);
}

TEST_F(RingReader, WhoTakesOverAfterTheBlockWasWrittenOverDoesNotGuess) {
  for (uint32_t i = 0; i < 100; ++i) maker_.add(16, i);
  const uint64_t left = maker_.head();
  maker_.add(16, 100);
  maker_.put(0, uint64_t{77});  // as if the ring had come round
  maker_.put(offsetof(abi::Block, position), uint64_t{1} << 16);
  maker_.open_block(9);
  maker_.add(16, 101);
  maker_.set_lost(10);
  reader_.start_at(maker_.bytes(), left, false);
  EXPECT_THAT(read(), ElementsAre(100, 101, -1));
  EXPECT_GT(reader_.damaged(), 0u);
}

TEST(FlightReader, BeginsAtTheOldestBlockThatIsNotAboutToBeOverwritten) {
  RingMaker maker(one_ring(abi::Policy::Overwrite));
  for (uint32_t i = 0; i < 10'000; ++i) maker.add(16, i);
  collect::RingReader reader(one_ring(abi::Policy::Overwrite), 0);
  Seen seen;
  reader.read_all(maker.bytes(), seen);
  ASSERT_FALSE(seen.values.empty());
  EXPECT_EQ(seen.values.back(), 9'999);
  EXPECT_EQ(seen.values.back() - seen.values.front() + 1, static_cast<int64_t>(seen.values.size()));
  // Two whole blocks and what there is of the third, of four.
  EXPECT_GE(seen.values.size(), 2u * ((1 << 14) - 32) / 16);
  EXPECT_EQ(reader.damaged(), 0u);
}

TEST(RingLayout, IsReadFromMemoryThatItsMakerLeft) {
  const collect::RingLayout layout = one_ring(abi::Policy::Overwrite);
  Result<collect::RingMemory> memory = collect::RingMemory::create(layout, abi::Clock::Tsc);
  ASSERT_TRUE(memory) << memory.error().text();
  Result<collect::RingLayout> read =
      collect::RingLayout::read(memory->bytes(), layout.policy, "core");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->data(), layout.data());
  EXPECT_EQ(read->policy, abi::Policy::Overwrite);
  EXPECT_FALSE(
      collect::RingLayout::read(memory->bytes().first(layout.size() - 1), layout.policy, "core"));
}

}  // namespace
}  // namespace strata::test
