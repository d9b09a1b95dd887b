// SPDX-License-Identifier: Apache-2.0
#include "probe/counter_slots.h"

#include <gtest/gtest.h>

#include <set>

namespace strata::probe {
namespace {

constexpr pid_t kProcess = 100;
constexpr size_t kSlots = 4;

class CounterSlots : public testing::Test {
 protected:
  ClaimedSlot claim(pid_t tid, pid_t process = kProcess) {
    const ClaimedSlot claimed =
        claim_slot(slots_, process, tid, [this](pid_t thread) { return alive_.contains(thread); });
    if (claimed.slot != nullptr) own_slot(*claimed.slot, tid);
    return claimed;
  }
  // Threads that run, each with a slot of its own.
  void fill() {
    for (pid_t tid = 1; tid <= static_cast<pid_t>(kSlots); ++tid) {
      alive_.insert(tid);
      EXPECT_EQ(claim(tid).was, SlotWas::Empty);
    }
  }

  CounterSlot slots_[kSlots] = {};
  std::set<pid_t> alive_;
};

TEST_F(CounterSlots, AThreadFindsItsOwn) {
  fill();
  std::set<CounterSlot*> found;
  for (pid_t tid = 1; tid <= static_cast<pid_t>(kSlots); ++tid) {
    const ClaimedSlot own = claim(tid);
    EXPECT_EQ(own.was, SlotWas::Own);
    EXPECT_EQ(own.slot->tid, tid);
    found.insert(own.slot);
  }
  EXPECT_EQ(found.size(), kSlots);
}

TEST_F(CounterSlots, WhereAllRunTheNextGoesWithout) {
  fill();
  EXPECT_EQ(claim(9).slot, nullptr);
  EXPECT_EQ(claim(9).was, SlotWas::None);
}

TEST_F(CounterSlots, OneOfAThreadThatIsGoneIsTakenWithItsPages) {
  fill();
  int page = 0;
  slots_[2].pages[1] = &page;
  alive_.erase(slots_[2].tid);
  const ClaimedSlot claimed = claim(9);
  EXPECT_EQ(claimed.was, SlotWas::Others);
  ASSERT_EQ(claimed.slot, &slots_[2]);
  EXPECT_EQ(claimed.slot->pages[1], &page);  // for the caller to unmap
  EXPECT_EQ(claim(9).was, SlotWas::Own);
}

TEST_F(CounterSlots, ThreadsThatComeAndGoTakeNoMoreThanThere) {
  for (pid_t tid = 1; tid <= 10'000; ++tid) {
    alive_ = {tid};
    ASSERT_NE(claim(tid).slot, nullptr) << tid;
  }
}

TEST_F(CounterSlots, AForkedChildHasNoneOfItsParents) {
  fill();
  int page = 0;
  slots_[0].pages[0] = &page;
  // Its only thread has a number of its own; here, on purpose, one of its parent's.
  const ClaimedSlot claimed = claim(2, kProcess + 1);
  ASSERT_NE(claimed.slot, nullptr);
  EXPECT_EQ(claimed.was, SlotWas::Empty);  // nothing to unmap
  EXPECT_EQ(claim(2, kProcess + 1).was, SlotWas::Own);
}

TEST_F(CounterSlots, OneThatIsBeingTakenIsLeftAlone) {
  fill();
  alive_.clear();
  for (CounterSlot& slot : slots_) slot.tid = -1;
  EXPECT_EQ(claim(9).slot, nullptr);
}

}  // namespace
}  // namespace strata::probe
