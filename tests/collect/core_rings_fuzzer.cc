// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a core file, and as the rings in one.
#include <cstring>
#include <vector>

#include "collect/core_rings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const Result<elf::ElfFile> core = elf::ElfFile::read(bytes, "core"))
    (void)static_cast<bool>(collect::find_core_rings(*core));
  // Past what the input would hardly get right: the size of a whole memory.
  if (size < sizeof(probe::abi::Header)) return 0;
  std::vector<std::byte> memory(size_t{1} << 20);
  std::memcpy(memory.data(), bytes.data(), std::min(size, memory.size()));
  for (uint32_t policy = 0; policy < probe::abi::kPolicies; ++policy)
    (void)static_cast<bool>(collect::RingMemory::copy(memory, probe::abi::Policy{policy}, "core"));
  return 0;
}
