// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "elf/elf_file.h"

namespace strata::elf {

// What a compiler, linker or library left in a file for tools to find.
struct Note {
  std::string_view owner;  // "GNU", "stapsdt"
  uint32_t type = 0;       // the owner's own numbers
  Bytes content;
};

// All notes that lie one after the other in `bytes`, which start at `offset` of the file. Each part
// of a note is padded to `alignment` bytes: 8 where the file says so, otherwise 4.
Result<std::vector<Note>> read_notes(const ElfFile& file, Bytes bytes, uint64_t offset,
                                     uint64_t alignment);

// What tells this build of a program from every other, in hexadecimal digits; empty where the
// linker left none.
Result<std::string> build_id(const ElfFile& file);

}  // namespace strata::elf
