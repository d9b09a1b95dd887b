// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/cursor.h"

namespace strata::ctf {
namespace {

uint64_t sign_extended(uint64_t value, uint32_t size) {
  const unsigned unused = 64 - size;
  return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
}

uint64_t reversed(uint64_t value, uint32_t size) {
  uint64_t result = 0;
  for (uint32_t i = 0; i < size; ++i) result = result << 1 | ((value >> i) & 1);
  return result;
}

}  // namespace

uint64_t Cursor::integer(const Integer& type) {
  if (type.size == 0) return variable_length(type.is_signed);
  uint64_t value = fixed(type.size, type.order);
  if (type.reversed_bits) value = reversed(value, type.size);
  return type.is_signed ? sign_extended(value, type.size) : value;
}

uint64_t Cursor::variable_length(bool is_signed) {
  uint64_t value = 0;
  uint32_t bits = 0;
  while (true) {
    const Bytes byte = bytes(1);
    // Ten groups of seven bits are more than 64.
    if (!ok_ || bits >= 70) {
      ok_ = false;
      return 0;
    }
    const auto group = std::to_integer<uint64_t>(byte[0]);
    if (bits < 64) value |= (group & 0x7f) << bits;
    bits += 7;
    if ((group & 0x80) == 0) break;
  }
  return is_signed && bits < 64 ? sign_extended(value, bits) : value;
}

Bytes Cursor::bytes(uint64_t size) {
  const uint64_t at = position_;
  if (at % 8 != 0 || size > left() / 8) ok_ = false;
  if (!ok_) return {};
  position_ += size * 8;
  return {packet_ + at / 8, size};
}

Bytes Cursor::terminated(unsigned unit) {
  if (position_ % 8 != 0) ok_ = false;
  if (!ok_) return {};
  const std::byte* begin = packet_ + position_ / 8;
  const uint64_t most = left() / 8;
  if (unit == 1) {
    const void* nul = std::memchr(begin, 0, most);
    if (nul != nullptr)
      return bytes(static_cast<uint64_t>(static_cast<const std::byte*>(nul) - begin) + 1);
  } else {
    for (uint64_t i = 0; i + unit <= most; i += unit) {
      if (std::all_of(begin + i, begin + i + unit, [](std::byte b) { return b == std::byte{0}; }))
        return bytes(i + unit);
    }
  }
  ok_ = false;
  return {};
}

}  // namespace strata::ctf
