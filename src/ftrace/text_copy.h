// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

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

// How many of the 8 characters at `text` stand before the first NUL.
inline unsigned length_of_8(const char* text) {
  uint64_t word;
  std::memcpy(&word, text, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  const uint64_t nul = (word - 0x0101010101010101) & ~word & 0x8080808080808080;
  return nul == 0 ? 8 : static_cast<unsigned>(std::countr_zero(nul)) / 8;
}

// Copies 16 characters and gives the end at the first NUL among them. The length is taken from the
// copy: the source may be changing.
inline char* copy_name_16(char* out, const std::byte* name) {
  std::memcpy(out, name, 16);
  const unsigned first = length_of_8(out);
  return first < 8 ? out + first : out + 8 + length_of_8(out + 8);
}

}  // namespace strata::ftrace
