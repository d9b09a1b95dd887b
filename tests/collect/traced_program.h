// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "collect/ring_memory.h"
#include "ring_maker.h"

namespace strata::test {

// Small rings: one of 64 KB, in blocks of 16.
collect::RingLayout small_ring(probe::abi::Policy policy = probe::abi::Policy::Discard);

// A memory as its collector has it, in which a program wrote what the maker made. write_to() again
// when it wrote more.
collect::RingMemory memory_of(const RingMaker& program, const collect::RingLayout& layout);
void write_to(const collect::RingMemory& memory, const RingMaker& program);

// What a CTF trace holds: events as "name 7", with the value of their first field; then what was
// lost, if anything, as "lost 3", and "lost unknown".
std::vector<std::string> told_by(const std::string& folder);

}  // namespace strata::test
