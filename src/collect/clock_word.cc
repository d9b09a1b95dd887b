// SPDX-License-Identifier: Apache-2.0
#include "collect/clock_word.h"

namespace strata::collect {
namespace abi = probe::abi;

void ClockWord::set_clock(abi::Clock clock) {
  change([clock](abi::ClockWord& said) {
    if (said.is_closed()) return false;
    said.clock = static_cast<uint32_t>(clock);
    return true;
  });
}

void ClockWord::order_clock() {
  change([](abi::ClockWord& said) {
    if (said.clock != static_cast<uint32_t>(abi::Clock::Tsc)) return false;
    said.clock = static_cast<uint32_t>(abi::Clock::TscOrdered);
    return true;
  });
}

void ClockWord::look() {
  change([](abi::ClockWord& said) {
    if (said.looks) return false;
    return said.looks = true;
  });
}

void ClockWord::close() {
  change([](abi::ClockWord& said) {
    said.clock = abi::kClosed;
    return true;
  });
}

void ClockWord::want(abi::Policy policy) {
  change([policy](abi::ClockWord& said) {
    said.wanted |= abi::policy_bit(policy);
    said.comers = (said.comers + 1) % 16;
    return true;
  });
}

}  // namespace strata::collect
