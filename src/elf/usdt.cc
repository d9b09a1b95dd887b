// SPDX-License-Identifier: Apache-2.0
#include "elf/usdt.h"

#include <elf.h>

#include "elf/notes.h"

namespace strata::elf {
namespace {

constexpr uint32_t kUsdtNote = 3;

}  // namespace

Result<std::vector<UsdtSite>> usdt_sites(const ElfFile& file) {
  std::vector<UsdtSite> sites;
  const Section* base = file.section(".stapsdt.base");
  for (const Section& section : file.sections()) {
    if (section.type != SHT_NOTE || section.name != ".note.stapsdt") continue;
    Result<Bytes> bytes = file.contents(section);
    if (!bytes) return std::move(bytes).error();
    Result<std::vector<Note>> notes = read_notes(file, *bytes, section.offset, section.alignment);
    if (!notes) return std::move(notes).error();
    for (const Note& note : *notes) {
      if (note.owner != "stapsdt" || note.type != kUsdtNote) continue;
      const auto at = static_cast<uint64_t>(note.content.data() - file.bytes().data());
      ByteReader in(note.content, file.order(), at);
      const auto address = [&] { return file.is_64_bit() ? in.u64() : in.u32(); };
      UsdtSite site;
      site.address = address();
      const uint64_t noted_base = address();
      site.semaphore = address();
      site.provider = in.string();
      site.name = in.string();
      site.arguments = in.string();
      if (!in.ok()) return in.truncated(file.path(), "the note of a USDT probe");
      // Tools that move a program's addresses (prelink) do not know of the notes; by how much it
      // was moved shows in this section, which exists for that.
      if (base != nullptr && noted_base != 0) {
        const uint64_t moved = base->address - noted_base;
        site.address += moved;
        if (site.semaphore != 0) site.semaphore += moved;
      }
      sites.push_back(std::move(site));
    }
    break;
  }
  return sites;
}

}  // namespace strata::elf
