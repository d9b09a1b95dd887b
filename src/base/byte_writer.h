// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace strata {

// Puts numbers of a given byte order one after the other.
class ByteWriter {
 public:
  explicit ByteWriter(ByteOrder order) : swap_(order != kNativeOrder) {}

  void u8(uint8_t value) { number(value); }
  void u16(uint16_t value) { number(value); }
  void u32(uint32_t value) { number(value); }
  void u64(uint64_t value) { number(value); }
  void raw(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void text(std::string_view text) { raw(as_bytes(text)); }
  // With its NUL.
  void string(std::string_view text) {
    raw(as_bytes(text));
    u8(0);
  }

  uint64_t size() const { return bytes_.size(); }
  const std::vector<std::byte>& bytes() const& { return bytes_; }
  std::vector<std::byte>&& bytes() && { return std::move(bytes_); }

 private:
  template <typename T>
  void number(T value) {
    if constexpr (sizeof(T) > 1) {
      if (swap_) value = swap_bytes(value);
    }
    const auto* at = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), at, at + sizeof value);
  }

  std::vector<std::byte> bytes_;
  bool swap_;
};

}  // namespace strata
