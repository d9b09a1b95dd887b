// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "trace/trace.h"

namespace strata::state {

// That a machine is a guest of another, and what tells which of the virtual machines there it is.
struct GuestLink {
  size_t guest = 0;  // machines by their numbers
  size_t host = 0;
  Tid thread = kNoTid;    // one of the host's that run the guest; kNoTid: not told
  std::string name = {};  // what the host calls it; empty: not told
};

// All that is known before the first event is looked at in earnest: what traces tell of each other
// when they open; and where their events tell it (VmSyncHost, VmSyncGuest), those, from the start
// up to where every such machine is known. The state is then fused from the first event on, also
// from those before the first that tells.
std::vector<GuestLink> find_guests(std::span<const std::unique_ptr<trace::Trace>> traces,
                                   std::span<const size_t> machine_of);

}  // namespace strata::state
