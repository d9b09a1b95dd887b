// SPDX-License-Identifier: Apache-2.0
#include "elf/notes.h"

#include <elf.h>

#include <algorithm>

namespace strata::elf {
namespace {

// Passes over the padding; the last note of a section may have none.
void align(ByteReader& in, uint64_t alignment) {
  const uint64_t past = in.position() % alignment;
  if (past != 0) in.skip(std::min(alignment - past, in.remaining()));
}

Result<std::string> find_build_id(const ElfFile& file, Result<Bytes> bytes, uint64_t offset,
                                  uint64_t alignment) {
  if (!bytes) return std::move(bytes).error();
  Result<std::vector<Note>> notes = read_notes(file, *bytes, offset, alignment);
  if (!notes) return std::move(notes).error();
  std::string text;
  for (const Note& note : *notes) {
    if (note.owner != "GNU" || note.type != NT_GNU_BUILD_ID) continue;
    static constexpr char kDigits[] = "0123456789abcdef";
    for (const std::byte byte : note.content) {
      text += kDigits[std::to_integer<unsigned>(byte) >> 4];
      text += kDigits[std::to_integer<unsigned>(byte) & 15];
    }
    break;
  }
  return text;
}

}  // namespace

Result<std::vector<Note>> read_notes(const ElfFile& file, Bytes bytes, uint64_t offset,
                                     uint64_t alignment) {
  alignment = alignment == 8 ? 8 : 4;
  std::vector<Note> notes;
  ByteReader in(bytes, file.order(), offset);
  // Less than a note's head is padding behind the last one.
  while (in.remaining() >= 12) {
    const uint32_t owner_size = in.u32();
    const uint32_t size = in.u32();
    Note note;
    note.type = in.u32();
    note.owner = as_text(in.take(owner_size));
    note.owner = note.owner.substr(0, note.owner.find('\0'));
    align(in, alignment);
    note.content = in.take(size);
    if (!in.ok()) return in.truncated(file.path(), "a note");
    align(in, alignment);
    notes.push_back(note);
  }
  return notes;
}

Result<std::string> build_id(const ElfFile& file) {
  // Segments first: they are there also where the section headers were stripped.
  for (const Segment& segment : file.segments()) {
    if (segment.type != PT_NOTE) continue;
    Result<std::string> id =
        find_build_id(file, file.part(segment.offset, segment.file_size, "notes"), segment.offset,
                      segment.alignment);
    if (!id || !id->empty()) return id;
  }
  for (const Section& section : file.sections()) {
    if (section.type != SHT_NOTE) continue;
    Result<std::string> id =
        find_build_id(file, file.contents(section), section.offset, section.alignment);
    if (!id || !id->empty()) return id;
  }
  return std::string();
}

}  // namespace strata::elf
