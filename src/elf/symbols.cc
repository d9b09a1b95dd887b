// SPDX-License-Identifier: Apache-2.0
#include "elf/symbols.h"

#include <elf.h>

#include <algorithm>

#include "elf/string_table.h"

namespace strata::elf {
namespace {

Symbol::Binding binding_of(uint8_t info) {
  switch (ELF64_ST_BIND(info)) {
    case STB_LOCAL:
      return Symbol::Binding::Local;
    case STB_WEAK:
      return Symbol::Binding::Weak;
    default:
      return Symbol::Binding::Global;
  }
}

Symbol::Kind kind_of(uint8_t info) {
  switch (ELF64_ST_TYPE(info)) {
    case STT_FUNC:
      return Symbol::Kind::Function;
    case STT_OBJECT:
    case STT_COMMON:
      return Symbol::Kind::Variable;
    case STT_GNU_IFUNC:
      return Symbol::Kind::Indirect;
    case STT_NOTYPE:
      return Symbol::Kind::Untyped;
    default:
      return Symbol::Kind::Other;
  }
}

// False where the symbol is another file's, or no address.
bool read_symbol(const ElfFile& file, ByteReader& in, Symbol& symbol, uint32_t& name) {
  name = in.u32();
  uint8_t info = 0;
  uint16_t section = 0;
  if (file.is_64_bit()) {
    info = in.u8();
    in.u8();  // visibility
    section = in.u16();
    symbol.address = in.u64();
    symbol.size = in.u64();
  } else {
    symbol.address = in.u32();
    symbol.size = in.u32();
    info = in.u8();
    in.u8();
    section = in.u16();
  }
  symbol.binding = binding_of(info);
  symbol.kind = kind_of(info);
  return name != 0 && section != SHN_UNDEF && section != SHN_ABS && section != SHN_COMMON;
}

Status read_table(const ElfFile& file, const Section& table, std::vector<Symbol>& symbols) {
  const uint64_t smallest = file.is_64_bit() ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  const std::string name(table.name);
  if (table.entry_size < smallest)
    return Error{file.path(), table.offset, "an entry of " + name + " is too small for a symbol"};
  if (table.link >= file.sections().size())
    return Error{file.path(), table.offset, "the names of " + name + " are not there"};
  Result<Bytes> entries = file.contents(table);
  if (!entries) return std::move(entries).error();
  Result<Bytes> names = file.contents(file.sections()[table.link]);
  if (!names) return std::move(names).error();

  const uint64_t count = entries->size() / table.entry_size;
  symbols.reserve(symbols.size() + count);
  for (uint64_t i = 0; i < count; ++i) {
    ByteReader in(entries->subspan(i * table.entry_size, smallest), file.order());
    Symbol symbol;
    uint32_t name_at = 0;
    if (!read_symbol(file, in, symbol, name_at)) continue;
    const std::optional<std::string_view> text = string_at(*names, name_at);
    if (!text)
      return Error{file.path(), table.offset + i * table.entry_size,
                   "the name of a symbol in " + name + " is not there"};
    symbol.name = text->substr(0, text->find('@'));  // linkers write versions into .symtab
    symbols.push_back(symbol);
  }
  return {};
}

}  // namespace

Result<std::vector<Symbol>> read_symbols(const ElfFile& file) {
  std::vector<Symbol> symbols;
  for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const Section& section : file.sections()) {
      if (section.type != type) continue;
      if (Status status = read_table(file, section, symbols); !status)
        return std::move(status).error();
      break;  // a file has at most one of each; more would only be the same bytes once again
    }
  }
  return symbols;
}

std::vector<Symbol> functions_named(const std::vector<Symbol>& symbols, std::string_view name) {
  std::vector<Symbol> found;
  for (const Symbol& symbol : symbols) {
    if (symbol.name != name) continue;
    if (symbol.kind != Symbol::Kind::Function && symbol.kind != Symbol::Kind::Indirect &&
        symbol.kind != Symbol::Kind::Untyped)
      continue;
    if (!found.empty() && symbol.binding > found.front().binding) continue;
    if (!found.empty() && symbol.binding < found.front().binding) found.clear();
    const bool known = std::any_of(found.begin(), found.end(), [&](const Symbol& other) {
      return other.address == symbol.address;
    });
    if (!known) found.push_back(symbol);
  }
  return found;
}

}  // namespace strata::elf
