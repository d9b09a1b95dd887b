// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"

namespace strata::elf {

// A name of .symtab or .dynsym that has an address in this file.
struct Symbol {
  // In the order of who wins where two have the same name.
  enum class Binding : uint8_t { Global, Weak, Local };
  enum class Kind : uint8_t {
    Function,
    Variable,
    Indirect,  // a function that picks the function, when the program starts (IFUNC)
    Untyped,   // as assembly leaves it
    Other,     // thread-local variables, sections, files
  };

  std::string_view name;  // without a version; in the file, so only as long as that is open
  uint64_t address = 0;
  uint64_t size = 0;  // 0: not known
  Binding binding = Binding::Global;
  Kind kind = Kind::Untyped;
};

// Both tables, .symtab first; what stands in both is given twice.
Result<std::vector<Symbol>> read_symbols(const ElfFile& file);

// Those of this name that can be called, at different addresses, and none that a stronger binding
// hides. Several where static functions in several files of the source share a name.
std::vector<Symbol> functions_named(const std::vector<Symbol>& symbols, std::string_view name);

}  // namespace strata::elf
