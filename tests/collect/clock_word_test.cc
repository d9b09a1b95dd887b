// SPDX-License-Identifier: Apache-2.0
#include "collect/clock_word.h"

#include <gtest/gtest.h>

namespace strata::test {
namespace {

namespace abi = probe::abi;
using abi::Policy;

constexpr uint32_t kAll = abi::policy_bit(Policy::Discard) | abi::policy_bit(Policy::Overwrite) |
                          abi::policy_bit(Policy::Block);

// What a thread compares that writes to these rings alone.
uint32_t compared(uint32_t word, Policy policy) {
  return word >> 8 * static_cast<uint32_t>(policy) & 0xff;
}

uint32_t word_for(Policy policy) {
  return abi::ClockWord{0, abi::policy_bit(policy), false, 0}.word();
}

TEST(ClockWord, SaysWhatItWasMadeOf) {
  for (uint32_t wanted = 1; wanted <= kAll; ++wanted) {
    for (const bool looks : {false, true}) {
      for (const uint32_t clock : {0u, 1u, 2u, abi::kClosed}) {
        const auto said = abi::ClockWord::of(abi::ClockWord{clock, wanted, looks, 13}.word());
        EXPECT_EQ(said.clock, clock);
        EXPECT_EQ(said.wanted, wanted);
        EXPECT_EQ(said.looks, looks);
        EXPECT_EQ(said.comers, 13u);
      }
    }
  }
}

TEST(ClockWord, OnlyWhereOnePolicyIsWantedIsThereNothingMoreToLookAt) {
  uint32_t word = word_for(Policy::Overwrite);
  EXPECT_EQ(compared(word, Policy::Overwrite), 0u);
  EXPECT_EQ(compared(word, Policy::Discard), abi::kLook);
  collect::ClockWord shared(word);
  shared.want(Policy::Discard);
  EXPECT_EQ(compared(word, Policy::Overwrite), abi::kLook);
  EXPECT_EQ(compared(word, Policy::Discard), abi::kLook);
  shared.stop_wanting(Policy::Overwrite, [] { return false; });
  EXPECT_EQ(compared(word, Policy::Overwrite), abi::kLook);
  EXPECT_EQ(compared(word, Policy::Discard), 0u);
  shared.look();
  EXPECT_EQ(compared(word, Policy::Discard), abi::kLook);
}

TEST(ClockWord, WhatIsWantedLastStays) {
  uint32_t word = word_for(Policy::Block);
  collect::ClockWord shared(word);
  shared.stop_wanting(Policy::Block, [] { return false; });
  EXPECT_TRUE(shared.said().wants(Policy::Block));
}

TEST(ClockWord, WhoComesWhileAnotherFindsThatNobodyReadsIsSeen) {
  uint32_t word = abi::ClockWord{0, kAll, false, 15}.word();
  collect::ClockWord shared(word);
  int asked = 0;
  shared.stop_wanting(Policy::Block, [&] {
    if (++asked == 1) shared.want(Policy::Block);  // it is already: only the count changes
    return asked > 1;
  });
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(shared.said().wants(Policy::Block));
}

TEST(ClockWord, OneThatIsClosedStaysSo) {
  uint32_t word = word_for(Policy::Discard);
  collect::ClockWord shared(word);
  shared.order_clock();
  EXPECT_EQ(shared.said().clock, static_cast<uint32_t>(abi::Clock::TscOrdered));
  shared.close();
  shared.set_clock(abi::Clock::Tsc);
  shared.want(Policy::Block);
  shared.look();
  EXPECT_TRUE(shared.said().is_closed());
  EXPECT_EQ(compared(word, Policy::Discard) & abi::kClockMask, abi::kClosed);
}

}  // namespace
}  // namespace strata::test
