// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace strata {

// Numbers to text for the innermost loops, in the caller's code: two digits from a table at a time,
// hexadecimal ones eight at a time. Each writes up to kDigitsRoom characters, wherever the number
// ends.
constexpr size_t kDigitsRoom = 32;

// "00" to "99".
constexpr auto kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (unsigned i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

inline char* write_pair(char* out, uint32_t value) {
  std::memcpy(out, &kDigitPairs[2 * value], 2);
  return out + 2;
}
inline char* write_four(char* out, uint32_t value) {
  return write_pair(write_pair(out, value / 100), value % 100);
}
inline char* write_up_to_four(char* out, uint32_t value) {
  if (value < 100) {
    if (value >= 10) return write_pair(out, value);
    *out = static_cast<char>('0' + value);
    return out + 1;
  }
  if (value >= 1000) return write_four(out, value);
  *out = static_cast<char>('0' + value / 100);
  return write_pair(out + 1, value % 100);
}
inline char* write_up_to_eight(char* out, uint32_t value) {
  if (value < 10'000) return write_up_to_four(out, value);
  return write_four(write_up_to_four(out, value / 10'000), value % 10'000);
}

// The lowest 32 bits as eight hexadecimal digits in characters, the first in the lowest byte.
constexpr uint64_t eight_hex_characters(uint64_t value) {
  uint64_t x = (value << 16 | value) & 0x0000'ffff'0000'ffff;
  x = (x << 8 | x) & 0x00ff'00ff'00ff'00ff;
  x = (x << 4 | x) & 0x0f0f'0f0f'0f0f'0f0f;
  const uint64_t letters = (x + 0x0606'0606'0606'0606) >> 4 & 0x0101'0101'0101'0101;
  return __builtin_bswap64(x + 0x3030'3030'3030'3030 + letters * ('a' - '0' - 10));
}

inline void store_characters(char* out, uint64_t characters) {
  if constexpr (std::endian::native == std::endian::big) characters = __builtin_bswap64(characters);
  std::memcpy(out, &characters, 8);
}

inline char* write_digits(char* out, uint64_t value) {
  constexpr uint64_t kEight = 100'000'000;
  if (value < kEight) [[likely]]
    return write_up_to_eight(out, static_cast<uint32_t>(value));
  // At most twice: 20 digits are all there are.
  out = write_digits(out, value / kEight);
  const auto rest = static_cast<uint32_t>(value % kEight);
  return write_four(write_four(out, rest / 10'000), rest % 10'000);
}

inline char* write_digits(char* out, int64_t value) {
  if (value >= 0) [[likely]]
    return write_digits(out, static_cast<uint64_t>(value));
  *out = '-';
  return write_digits(out + 1, 0 - static_cast<uint64_t>(value));
}

// In hexadecimal, with at least `least` digits, 1 to 16.
inline char* write_hex_digits(char* out, uint64_t value, unsigned least) {
  const unsigned bits = 64 - static_cast<unsigned>(std::countl_zero(value | 1));
  const unsigned needed = (bits + 3) / 4;
  const unsigned digits = needed > least ? needed : least;
  const uint64_t low = eight_hex_characters(value & UINT32_MAX);
  if (digits <= 8) {
    store_characters(out, low >> 8 * (8 - digits));
    return out + digits;
  }
  store_characters(out, eight_hex_characters(value >> 32) >> 8 * (16 - digits));
  store_characters(out + digits - 8, low);
  return out + digits;
}

}  // namespace strata
