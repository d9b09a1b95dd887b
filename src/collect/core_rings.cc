// SPDX-License-Identifier: Apache-2.0
#include "collect/core_rings.h"

#include <elf.h>
#include <sys/procfs.h>

#include <cstring>

#include "elf/notes.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

// Who it was, from the kernel's note of the process.
TracedProcess process_of(const elf::ElfFile& core) {
  TracedProcess process;
  for (const elf::Segment& segment : core.segments()) {
    if (segment.type != PT_NOTE) continue;
    const Result<Bytes> bytes = core.part(segment.offset, segment.file_size, "notes");
    if (!bytes) continue;
    const Result<std::vector<elf::Note>> notes =
        read_notes(core, *bytes, segment.offset, segment.alignment);
    if (!notes) continue;
    for (const elf::Note& note : *notes) {
      prpsinfo_t told;
      if (note.type != NT_PRPSINFO || note.content.size() != sizeof told) continue;
      std::memcpy(&told, note.content.data(), sizeof told);
      process.pid = told.pr_pid;
      process.name.assign(told.pr_fname, strnlen(told.pr_fname, sizeof told.pr_fname));
      process.program = process.name;
    }
  }
  return process;
}

}  // namespace

Result<std::vector<CoreRings>> find_core_rings(const elf::ElfFile& core) {
  std::vector<CoreRings> found;
  const TracedProcess process = process_of(core);
  for (const elf::Segment& segment : core.segments()) {
    if (segment.type != PT_LOAD || segment.file_size < sizeof(abi::Header)) continue;
    const Result<Bytes> bytes = core.part(segment.offset, segment.file_size, "memory");
    if (!bytes) return bytes.error();
    if (load_once<uint64_t>(bytes->data()) != abi::kMagic) continue;
    Result<RingMemory> memory = RingMemory::copy(*bytes, core.path());
    if (!memory) return std::move(memory).error();
    found.push_back({process, std::move(*memory)});
  }
  return found;
}

}  // namespace strata::collect
