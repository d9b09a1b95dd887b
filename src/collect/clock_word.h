// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "probe/abi.h"

namespace strata::collect {

// The word of a ring memory that tells the program which clock to read and to the rings of which
// policies to write (probe::abi::ClockWord). Several collectors change it, each a part of it; so
// each change is one step. A program that changes it all the time, which it should not, does not
// keep us.
class ClockWord {
 public:
  explicit ClockWord(uint32_t& word) : word_(&word) {}

  probe::abi::ClockWord said() const {
    return probe::abi::ClockWord::of(__atomic_load_n(word_, __ATOMIC_SEQ_CST));
  }

  // One that is closed stays so.
  void set_clock(probe::abi::Clock clock);
  // From now on the clock is read not before what precedes it has happened, where it is the TSC.
  void order_clock();
  // There are filters or contexts to look at.
  void look();
  void close();

  // From now on records are written to the rings of this policy, too.
  void want(probe::abi::Policy policy);
  // Not any more, where `is_read()` finds that nobody reads them. It is asked again where somebody
  // came at this moment. What is wanted last stays so: else there were nothing to write to.
  template <typename IsRead>
  void stop_wanting(probe::abi::Policy policy, IsRead is_read) {
    change([&](probe::abi::ClockWord& said) {
      const uint32_t rest = said.wanted & ~probe::abi::policy_bit(policy);
      if (rest == said.wanted || rest == 0 || is_read()) return false;
      said.wanted = rest;
      return true;
    });
  }

 private:
  // `edit` gives false where nothing is to change.
  template <typename Edit>
  void change(Edit edit) {
    constexpr int kAttempts = 64;
    uint32_t seen = __atomic_load_n(word_, __ATOMIC_SEQ_CST);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      auto said = probe::abi::ClockWord::of(seen);
      if (!edit(said) || __atomic_compare_exchange_n(word_, &seen, said.word(), false,
                                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return;
    }
  }

  uint32_t* word_;
};

}  // namespace strata::collect
