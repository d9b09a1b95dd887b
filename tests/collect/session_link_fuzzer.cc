// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what another session sends.
#include <cstdlib>

#include "collect/session_link.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  const std::optional<collect::SharedMemory> memory = collect::read_memory_message(bytes);
  if (!memory) return 0;
  if (memory->slot && *memory->slot >= probe::abi::kMaxReaders) abort();
  if (memory->process.name.size() + memory->process.program.size() > size) abort();
  // What was read is what is sent.
  const std::optional<collect::SharedMemory> again =
      collect::read_memory_message(as_bytes(collect::memory_message(*memory)));
  if (!again || again->process.pid != memory->process.pid ||
      again->process.name != memory->process.name || again->slot != memory->slot)
    abort();
  return 0;
}
