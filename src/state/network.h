// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "state/names.h"

namespace strata::state {

struct Packets {
  uint64_t count = 0;
  uint64_t bytes = 0;

  void add(int64_t length) {
    ++count;
    if (length > 0) bytes += static_cast<uint64_t>(length);
  }
};

// What a network interface has sent and received.
struct Interface {
  Packets queued = {};   // to be sent; many may leave at once, as one that is segmented later
  Packets sent = {};     // that the interface took
  Packets refused = {};  // that it did not take; the kernel may offer it again
  Packets received = {};
};

using Interfaces = std::map<NameId, Interface>;  // by name

}  // namespace strata::state
