// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"

namespace strata::live {

constexpr uint64_t from_to(uint64_t before, uint64_t now) {
  return now > before ? now - before : 0;
}

// In which mode the kernel's ticks found somebody: by that it estimates user and system time.
struct Ticks {
  uint64_t user_ns = 0;
  uint64_t system_ns = 0;

  // Those since `before`; where these are too few to tell anything, all.
  constexpr Ticks since(const Ticks& before) const {
    constexpr uint64_t kEnough = 20'000'000;
    const Ticks since = {from_to(before.user_ns, user_ns), from_to(before.system_ns, system_ns)};
    return since.user_ns + since.system_ns >= kEnough ? since : *this;
  }
  constexpr bool tell() const { return user_ns + system_ns != 0; }
  // Of a time that was spent in a program or for it, the part in its own code. They have to tell.
  constexpr uint64_t user_part(uint64_t ns) const {
    const Int128 all = static_cast<Int128>(user_ns) + system_ns;
    return std::min(ns, static_cast<uint64_t>(static_cast<Int128>(ns) * user_ns / all));
  }
};

}  // namespace strata::live
