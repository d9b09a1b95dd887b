// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ftrace/print_format_compiler.h"

namespace strata::ftrace {
namespace {

uint32_t size_of_element(std::string_view type) {
  struct Entry {
    std::string_view name;
    uint32_t size;
  };
  static constexpr std::array<Entry, 9> kSizes{{{"u8", 1},
                                                {"s8", 1},
                                                {"char", 1},
                                                {"u16", 2},
                                                {"s16", 2},
                                                {"u32", 4},
                                                {"s32", 4},
                                                {"u64", 8},
                                                {"s64", 8}}};
  for (const Entry& entry : kSizes)
    if (entry.name == type) return entry.size;
  return 0;
}

// "unsigned long[6]" gives 6.
uint64_t length_of(std::string_view type) {
  const size_t open = type.rfind('[');
  std::string_view inside = type.substr(open + 1, type.size() - open - 2);
  if (const size_t space = inside.find_last_of(' '); space != std::string_view::npos)
    inside.remove_prefix(space + 1);
  return atom_value(inside);
}

}  // namespace

FieldNature nature_of(const trace::Field& field, Target target) {
  const std::string_view type = field.type;
  const auto has = [&](std::string_view word) { return type.find(word) != std::string_view::npos; };
  const bool located = field.location != trace::Location::InPlace;
  FieldNature nature;
  nature.array = type.ends_with(']') || (located && field.size == 2);
  nature.text = nature.array && (has("char") || has("u8") || has("s8") || field.size == 2);
  if (nature.array && !located) nature.text = has("char") || has("u8") || has("s8");
  nature.pointer = has("*");
  nature.of_long = has("long");
  if (!nature.array && !located) {
    nature.element_size = field.size;
    return nature;
  }
  const uint64_t length = type.ends_with(']') ? length_of(type) : 0;
  if (length != 0) {
    nature.element_size = static_cast<uint32_t>(field.size / length);
  } else if (located) {
    const size_t open = type.rfind('[');
    const size_t space = type.rfind(' ', open);
    nature.element_size = size_of_element(type.substr(space + 1, open - space - 1));
  } else if (nature.text) {
    nature.element_size = 1;
  } else if (nature.of_long) {
    nature.element_size = target.long_size;
  }
  return nature;
}

}  // namespace strata::ftrace
