// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collect/process_drain.h"
#include "support/temporary_folder.h"
#include "traced_program.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;
using testing::ElementsAre;

class RingCopy : public testing::Test {
 protected:
  RingCopy() { program_.declare({{"order"}}); }

  collect::RingMemory copied() {
    const collect::RingMemory memory = memory_of(program_, layout_);
    Result<collect::RingMemory> copy = memory.copy();
    EXPECT_TRUE(copy) << copy.error().text();
    return *std::move(copy);
  }
  std::vector<std::string> told(collect::RingMemory memory) {
    EXPECT_TRUE(collect::drain_copy({1, "shop", "shop"}, std::move(memory), {}, traces_));
    EXPECT_TRUE(traces_.finish());
    return told_by(folder_.file("app-shop"));
  }

  collect::RingLayout layout_ = small_ring(abi::Policy::Overwrite);
  RingMaker program_{layout_};
  TemporaryFolder folder_;
  collect::ProgramTraces traces_{folder_.path(), {}};
};

TEST_F(RingCopy, HoldsWhatTheRingHolds) {
  program_.add(16, 1);
  program_.add(16, 2);
  program_.set_lost(3);
  collect::RingMemory copy = copied();
  EXPECT_EQ(copy.begin(), std::nullopt);
  EXPECT_THAT(told(std::move(copy)), ElementsAre("order 1", "order 2", "lost 3"));
}

TEST_F(RingCopy, TakesNothingOutOfIt) {
  program_.add(16, 1);
  const collect::RingMemory memory = memory_of(program_, layout_);
  ASSERT_TRUE(memory.copy());
  EXPECT_THAT(told(*memory.copy()), ElementsAre("order 1"));
}

TEST_F(RingCopy, OfARingThatWasOverwrittenBeginsWithAWholeBlockAndHasNoHole) {
  constexpr uint32_t kEvents = 20000;
  for (uint32_t i = 0; i < kEvents; ++i) program_.add(16, i);
  collect::RingMemory copy = copied();
  const std::optional<uint64_t> begin = copy.begin();
  const std::vector<std::string> events = told(std::move(copy));
  // Two blocks at least, and the one that is being written.
  ASSERT_GT(events.size(), 2 * layout_.block() / 16 - 10);
  for (size_t i = 0; i < events.size(); ++i)
    ASSERT_EQ(events[i], "order " + std::to_string(kEvents - events.size() + i));
  // The maker's clock ticks once for each event and each block.
  ASSERT_TRUE(begin);
  EXPECT_GT(*begin, kEvents - events.size());
}

TEST_F(RingCopy, OfAHeadThatCannotBeHoldsNothing) {
  program_.add(16, 1);
  program_.set_head(UINT64_MAX - 7);
  EXPECT_THAT(told(copied()), ElementsAre("lost unknown"));
}

}  // namespace
}  // namespace strata::test
