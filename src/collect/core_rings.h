// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/result.h"
#include "collect/ring_memory.h"
#include "collect/traced_process.h"
#include "elf/elf_file.h"

namespace strata::collect {

// Rings that a program had when it died, a copy of them: those of one policy.
struct CoreRings {
  // Its program is the name alone: the core does not tell more. Where there are rings of several
  // policies, the name tells which.
  TracedProcess process;
  RingMemory memory;
};

// All that a core file holds. The kernel puts them there unless it was told otherwise: to it, the
// memory is anonymous and shared (bit 1 of coredump_filter, see core(5)). Nothing in it is trusted.
Result<std::vector<CoreRings>> find_core_rings(const elf::ElfFile& core);

}  // namespace strata::collect
