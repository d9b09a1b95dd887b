// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace strata::probe {

inline constexpr size_t kCounters = 4;

// Which thread has which counters open. A thread does not tell us when it ends: who needs a place
// and finds none takes that of one that is gone. So there are as many as threads may have counters
// at one time, whatever the number of threads that come and go; beyond that, some go without.
//
// After a fork the child has the table too, but not the pages: the kernel does not copy those.
struct CounterSlot {
  pid_t tid;  // the owner; 0: nobody's; negative: somebody is taking it
  pid_t process;
  uint32_t tried;          // which of them were opened, or could not be: bit i for page i
  void* pages[kCounters];  // null: there is none
};

enum class SlotWas : uint8_t { Own, Empty, Others, None };
struct ClaimedSlot {
  CounterSlot* slot;
  SlotWas was;  // Others: with the pages of a thread of this process that has ended
};

// The slot of this thread, or one that it now has. A signal handler may come in between, and claims
// another. `is_alive(tid)`: whether the process has such a thread.
template <size_t kSlots, typename IsAlive>
ClaimedSlot claim_slot(CounterSlot (&slots)[kSlots], pid_t process, pid_t tid, IsAlive is_alive) {
  for (CounterSlot& slot : slots)
    if (__atomic_load_n(&slot.tid, __ATOMIC_ACQUIRE) == tid && slot.process == process)
      return {&slot, SlotWas::Own};
  // First those that nobody has, then those of threads that are gone.
  for (int turn = 0; turn < 2; ++turn)
    for (CounterSlot& slot : slots) {
      const bool looks_for_dead = turn == 1;
      pid_t owner = __atomic_load_n(&slot.tid, __ATOMIC_ACQUIRE);
      if (owner < 0) continue;
      const bool is_inherited = owner != 0 && slot.process != process;
      if (looks_for_dead ? owner == 0 || is_inherited || is_alive(owner)
                         : owner != 0 && !is_inherited)
        continue;
      if (!__atomic_compare_exchange_n(&slot.tid, &owner, -1, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED))
        continue;
      slot.process = process;
      return {&slot, looks_for_dead ? SlotWas::Others : SlotWas::Empty};
    }
  return {nullptr, SlotWas::None};
}

// From here on it is the thread's: its pages are there.
inline void own_slot(CounterSlot& slot, pid_t tid) {
  __atomic_store_n(&slot.tid, tid, __ATOMIC_RELEASE);
}

}  // namespace strata::probe
