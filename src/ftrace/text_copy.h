// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace strata::ftrace {

// Short texts are copied in whole blocks, without a loop and without a call: up to so many bytes
// behind their end are read and written. Whoever holds the source and makes the room adds them.
constexpr size_t kCopySlack = 64;

// Copies `size` characters, and whatever stands behind them.
inline char* copy_literal(char* out, const char* text, size_t size) {
  std::memcpy(out, text, 16);
  if (size > 16) [[unlikely]] {
    std::memcpy(out + 16, text + 16, 16);
    if (size > 32) [[unlikely]]
      std::memcpy(out + 32, text + 32, size - 32);
  }
  return out + size;
}

// How many of the 8 characters of `word` stand before the first NUL.
inline unsigned length_of_8(uint64_t word) {
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  const uint64_t nul = (word - 0x0101'0101'0101'0101) & ~word & 0x8080'8080'8080'8080;
  return nul == 0 ? 8 : static_cast<unsigned>(std::countr_zero(nul)) / 8;
}

// Copies 16 characters and gives the end at the first NUL among them. The length is that of what
// was copied: the source may be changing.
inline char* copy_name_16(char* out, const std::byte* name) {
  const auto first = load_once<uint64_t>(name);
  const auto second = load_once<uint64_t>(name + 8);
  std::memcpy(out, &first, 8);
  std::memcpy(out + 8, &second, 8);
  const unsigned length = length_of_8(first);
  return length < 8 ? out + length : out + 8 + length_of_8(second);
}

}  // namespace strata::ftrace
