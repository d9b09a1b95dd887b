// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "probe/abi.h"

namespace strata::probe {

// The memory that a collector gave, mapped and looked at: its header leads nowhere outside of it.
struct RingMemory {
  std::byte* start = nullptr;  // null: there is none
  int descriptor = -1;
};

// Asks the collectors that may trace this process, those of root and of the same user, for memory.
// A few system calls, safe in signal handlers; it waits for an answer for a moment only.
RingMemory ask_for_memory();

}  // namespace strata::probe
