// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata {

// Numbers of which most are small: seven bits a byte, the lowest first, the eighth bit says that
// more follow.
inline constexpr size_t kMaxVarint = 10;

// Writes it where there is room for kMaxVarint; gives where the next goes.
inline uint8_t* put_varint(uint8_t* at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<uint8_t>(value | 0x80);
  *at++ = static_cast<uint8_t>(value);
  return at;
}

// Null where it does not end before `end`, or is none.
inline const uint8_t* take_varint(const uint8_t* at, const uint8_t* end, uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
    const uint8_t byte = *at++;
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return at;
  }
  return nullptr;
}

}  // namespace strata
