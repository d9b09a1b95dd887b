// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"

namespace strata::elf {

// A place in a program where its author put a probe with <sys/sdt.h>: an instruction that does
// nothing, and a note that says where it is and in which registers and memory the arguments then
// are. A probe has several sites where its code was inlined or is written several times.
struct UsdtSite {
  std::string provider;
  std::string name;
  std::string arguments;   // "-4@%eax 8@-24(%rbp)": the assembler's words, as the note has them
  uint64_t address = 0;    // of the instruction
  uint64_t semaphore = 0;  // the address of a 16-bit counter of those who watch; 0: none

  bool operator==(const UsdtSite&) const = default;
};

// In the file's order; empty where the program has none.
Result<std::vector<UsdtSite>> usdt_sites(const ElfFile& file);

}  // namespace strata::elf
