// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "collect/ring_memory.h"

namespace strata::test {

// A small memory for fuzz targets: the fallback alone, of the policy that `choice` says.
inline collect::RingLayout fuzzed_layout(uint8_t choice) {
  collect::RingLayout layout;
  layout.policy = probe::abi::Policy{choice % probe::abi::kPolicies};
  layout.capacity_log2 = 15;
  layout.block_log2 = 14;
  layout.dictionary_size = 512;
  return layout;
}

struct MemoryPart {
  uint64_t at = 0;
  uint64_t size = 0;
};

// Where the bytes of an input go, in this order: what a program writes to and its collector of this
// policy reads. The collector's parts, the filters among them, are its own.
inline std::array<MemoryPart, 3> programs_parts(const collect::RingLayout& layout) {
  constexpr uint64_t kInHeader = offsetof(probe::abi::Header, dictionary_used);
  return {{{kInHeader, layout.filters() - kInHeader},
           {layout.controls(), sizeof(probe::abi::RingControl)},
           {layout.data(), layout.capacity()}}};
}

}  // namespace strata::test
