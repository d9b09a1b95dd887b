// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the memory of a program, through all that a collector does with it: drained into a
// trace, or copied first as a flight recorder does.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "collect/process_drain.h"
#include "fuzzed_memory.h"
#include "support/temporary_folder.h"

namespace {

using namespace strata;

void drain(collect::RingMemory memory, uint64_t quota) {
  static const test::TemporaryFolder folder;
  uint64_t bytes = 0;
  {
    collect::ProgramTraces traces(folder.path(), {});
    collect::DrainOptions options;
    options.quota = quota;
    const auto shared = std::make_shared<collect::RingMemory>(std::move(memory));
    const auto slot = collect::ReaderSlot::claim(*shared, collect::Begin::Start);
    if (!slot) abort();
    collect::ProcessDrain rings({{1, "input", "input"}, {}, shared, *slot, collect::Begin::Start},
                                options);
    if (!rings.drain(traces) || !rings.finish(traces) || !traces.finish()) abort();
    for (const auto& told : traces.told()) bytes += told.totals.bytes;
  }
  if (bytes > quota) abort();
  std::filesystem::remove_all(folder.file("app-input"));
}

}  // namespace

// The first byte chooses the policy and the quota; the rest is what the program wrote.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const collect::RingLayout layout = test::fuzzed_layout(data[0]);
  Result<collect::RingMemory> memory = collect::RingMemory::create(layout, probe::abi::Clock::Tsc);
  if (!memory) abort();
  size_t used = 1;
  for (const test::MemoryPart part : test::programs_parts(layout)) {
    const size_t written = std::min<size_t>(size - used, part.size);
    if (pwrite(memory->descriptor(), data + used, written, static_cast<off_t>(part.at)) !=
        static_cast<ssize_t>(written))
      abort();
    used += written;
  }
  const uint64_t quota = data[0] & 0x80 ? 64 : uint64_t{1} << 20;
  if (layout.policy == probe::abi::Policy::Overwrite) {
    Result<collect::RingMemory> copy = memory->copy();
    if (!copy) abort();
    drain(*std::move(copy), quota);
  }
  drain(*std::move(memory), quota);
  return 0;
}
