// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <strata/probe.h>

#include <cstdint>

#include "probe/state.h"

namespace strata::probe {

// The generation of a module that was never attached. No attachment has it, nor 0.
inline constexpr uint32_t kUnattached = UINT32_MAX;

// Which attachment a module's ids belong to, and the first of them.
struct ModuleIds {
  uint32_t generation;
  uint32_t first;

  // As the module keeps them, in one word: they are read and changed together.
  uint64_t both() const { return uint64_t{generation} << 32 | first; }
};
inline ModuleIds ids_of(const strata_probe_module& module) {
  const uint64_t both = load(module.attached);
  return {static_cast<uint32_t>(both >> 32), static_cast<uint32_t>(both)};
}

// Makes the module's ids those of the current attachment, for which it attaches to the collector
// where there is none yet. Where another thread is about it, waits for a moment. False: there is no
// ring for this module's events, and what was to be written is to be counted as lost.
// Safe in signal handlers; errno stays.
bool attach(strata_probe_module& module);

// The collector has left: the next event attaches anew.
void detach(uint32_t generation);

// Events that have no ring.
void count_unattached();

// This policy alone is wanted: from now on its rings are those that the fast path writes to.
void write_first_to(uint32_t generation, abi::Policy policy);

}  // namespace strata::probe
