// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace strata::kernel {

// The clock on which it is noted when a piece of the starting state was read: that of the
// recording, so that it lies right among the events.
enum class StateClock : uint8_t { Tsc, MonotonicRaw };

uint64_t now(StateClock clock);

}  // namespace strata::kernel
