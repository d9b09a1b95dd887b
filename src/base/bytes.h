// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace strata {

using Bytes = std::span<const std::byte>;

// True where numbers in a file lie in the other byte order than this machine's.
enum class ByteOrder : uint8_t { Little, Big };
constexpr ByteOrder kNativeOrder =
    std::endian::native == std::endian::little ? ByteOrder::Little : ByteOrder::Big;

constexpr uint16_t swap_bytes(uint16_t v) { return __builtin_bswap16(v); }
constexpr uint32_t swap_bytes(uint32_t v) { return __builtin_bswap32(v); }
constexpr uint64_t swap_bytes(uint64_t v) { return __builtin_bswap64(v); }

// Reads a number that another process may be changing under us (a mapped file, a mapped ring),
// once: the compiler may not read it a second time after we have checked it.
template <typename T>
inline T load_once(const std::byte* at) {
  struct __attribute__((packed, may_alias)) Unaligned {
    T value;
  };
  return reinterpret_cast<const volatile Unaligned*>(at)->value;
}

template <typename T>
inline T load(const std::byte* at, bool swap) {
  T value = load_once<T>(at);
  if constexpr (sizeof(T) > 1) {
    if (swap) [[unlikely]]
      value = swap_bytes(value);
  }
  return value;
}

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// Walks over bytes from outside. It never reads past their end: the first read that would makes the
// reader fail, and from then on everything it gives is zero or empty. So a run of reads is checked
// once, at its end, with ok().
class ByteReader {
 public:
  // `base` is where `bytes` start in their file: only for the offsets in errors.
  ByteReader(Bytes bytes, ByteOrder order, uint64_t base = 0)
      : bytes_(bytes), base_(base), swap_(order != kNativeOrder) {}

  uint8_t u8() { return number<uint8_t>(); }
  uint16_t u16() { return number<uint16_t>(); }
  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }
  int64_t s64() { return static_cast<int64_t>(number<uint64_t>()); }

  Bytes take(uint64_t size);
  // Up to the next NUL, which is passed over.
  std::string_view string();
  void skip(uint64_t size) { take(size); }
  void seek(uint64_t position);

  bool ok() const { return !failed_; }
  uint64_t position() const { return position_; }
  uint64_t remaining() const { return bytes_.size() - position_; }
  // Where the reader is, or where it failed, counted from the start of the file.
  uint64_t file_offset() const { return base_ + position_; }

  // Why it failed; `what` names what was being read: "the list of options".
  Error truncated(const std::string& file, std::string_view what) const;

 private:
  template <typename T>
  T number() {
    if (failed_ || remaining() < sizeof(T)) {
      failed_ = true;
      return 0;
    }
    T value = load<T>(bytes_.data() + position_, swap_);
    position_ += sizeof(T);
    return value;
  }

  Bytes bytes_;
  uint64_t base_;
  uint64_t position_ = 0;
  bool swap_;
  bool failed_ = false;
};

}  // namespace strata
