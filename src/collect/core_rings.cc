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

// What several sessions of different policies recorded is in the rings of each: they are told
// apart.
const char* suffix_of(abi::Policy policy) {
  switch (policy) {
    case abi::Policy::Discard:
      break;
    case abi::Policy::Overwrite:
      return "-flight";
    case abi::Policy::Block:
      return "-block";
  }
  return "";
}

Status add_wanted(Bytes bytes, const std::string& name, const TracedProcess& process,
                  std::vector<CoreRings>& found) {
  const auto said =
      abi::ClockWord::of(load_once<uint32_t>(bytes.data() + offsetof(abi::Header, clock)));
  for (uint32_t number = 0; number < abi::kPolicies; ++number) {
    const abi::Policy policy{number};
    if (!said.wants(policy)) continue;
    Result<RingMemory> memory = RingMemory::copy(bytes, policy, name);
    if (!memory) return std::move(memory).error();
    TracedProcess whose = process;
    if (said.wanted != abi::policy_bit(policy)) whose.program += suffix_of(policy);
    found.push_back({std::move(whose), std::move(*memory)});
  }
  return {};
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
    if (Status status = add_wanted(*bytes, core.path(), process, found); !status)
      return std::move(status).error();
  }
  return found;
}

}  // namespace strata::collect
