// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/bytes.h"

namespace strata::elf {

// Longer ones are taken for damage. (Names of C++ templates reach some ten thousand characters.) A
// bound, because a file's every name may point into the same long run without a NUL.
constexpr size_t kLongestName = 64 * 1024;

// The text that begins so far within a table of texts that end in NUL.
inline std::optional<std::string_view> string_at(Bytes table, uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const std::string_view rest =
      as_text(table.subspan(offset, std::min<size_t>(table.size() - offset, kLongestName)));
  const size_t length = rest.find('\0');
  if (length == std::string_view::npos) return std::nullopt;
  return rest.substr(0, length);
}

}  // namespace strata::elf
