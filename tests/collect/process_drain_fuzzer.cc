// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the memory of a program, through all that a collector does with it: drained into a
// trace, or copied first as a flight recorder does.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "collect/process_drain.h"
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

// The first byte chooses the policy and the quota; the rest is what the program wrote, from the
// program's part of the header on. The collector's part is its own.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  collect::RingLayout layout;
  layout.policy = probe::abi::Policy{data[0] % 3u};
  layout.capacity_log2 = 15;
  layout.block_log2 = 14;
  layout.dictionary_size = 512;
  Result<collect::RingMemory> memory = collect::RingMemory::create(layout, probe::abi::Clock::Tsc);
  if (!memory) abort();
  constexpr size_t kProgramsPart = offsetof(probe::abi::Header, dictionary_used);
  const size_t written = std::min(size - 1, layout.size() - kProgramsPart);
  if (pwrite(memory->descriptor(), data + 1, written, kProgramsPart) !=
      static_cast<ssize_t>(written))
    abort();
  const uint64_t quota = data[0] & 0x80 ? 64 : uint64_t{1} << 20;
  if (layout.policy == probe::abi::Policy::Overwrite) {
    Result<collect::RingMemory> copy = memory->copy();
    if (!copy) abort();
    drain(*std::move(copy), quota);
  }
  drain(*std::move(memory), quota);
  return 0;
}
