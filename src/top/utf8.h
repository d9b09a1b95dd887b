// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strata::top {

struct Utf8 {
  char32_t character = 0;
  uint8_t size = 1;  // in bytes; of what is no character, what to leave out
  bool is_valid = false;
  bool is_cut = false;  // more bytes may make it a character
};

// What a text begins with, which is not empty.
inline Utf8 first_of_utf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const uint8_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return {};
  char32_t character = first & (0x7fu >> size);
  for (uint8_t i = 1; i < size; ++i) {
    if (i >= text.size()) return {.size = i, .is_cut = true};
    if ((byte(i) & 0xc0) != 0x80) return {.size = i};
    character = character << 6 | (byte(i) & 0x3fu);
  }
  const bool is_overlong = (size == 3 && character < 0x800) || (size == 4 && character < 0x10000);
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  return {character, size, !is_overlong && !is_surrogate && character < 0x110000};
}

inline void append_utf8(char32_t character, std::string& text) {
  const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xc0 | character >> 6);
  } else {
    if (character < 0x10000) {
      put(0xe0 | character >> 12);
    } else {
      put(0xf0 | character >> 18);
      put(0x80 | (character >> 12 & 0x3f));
    }
    put(0x80 | (character >> 6 & 0x3f));
  }
  put(0x80 | (character & 0x3f));
}

}  // namespace strata::top
