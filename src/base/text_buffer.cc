// SPDX-License-Identifier: Apache-2.0
#include "base/text_buffer.h"

#include <algorithm>
#include <array>
#include <bit>

namespace strata {
namespace {

// "00" to "99": two digits a division.
constexpr auto kPairs = [] {
  std::array<char, 200> pairs{};
  for (unsigned i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

constexpr auto kPowersOfTen = [] {
  std::array<uint64_t, 20> powers{};
  uint64_t power = 1;
  for (auto& p : powers) {
    p = power;
    power *= 10;
  }
  return powers;
}();

unsigned decimal_digits(uint64_t value) {
  // 1233/4096 is log10(2) to three digits; one comparison mends what that is off.
  const unsigned bits = 64 - static_cast<unsigned>(std::countl_zero(value | 1));
  const unsigned guess = bits * 1233 >> 12;
  return guess + (value >= kPowersOfTen[guess] ? 1 : 0) + (value == 0 ? 1 : 0);
}

void write_pair(char* at, uint64_t below_100) { std::memcpy(at, &kPairs[2 * below_100], 2); }

// Four digits a step: each waits for the division before it, within a step nothing does.
void write_digits(char* end, uint64_t value, unsigned digits) {
  for (; digits >= 4; digits -= 4) {
    const uint64_t rest = value / 10'000;
    const uint64_t four = value - rest * 10'000;
    write_pair(end -= 2, four % 100);
    write_pair(end -= 2, four / 100);
    value = rest;
  }
  if (digits >= 2) {
    write_pair(end -= 2, value % 100);
    value /= 100;
  }
  if (digits % 2 == 1) *--end = static_cast<char>('0' + value % 10);
}

char* write_hex(char* out, uint64_t value, const char* letters) {
  const unsigned bits = 64 - static_cast<unsigned>(std::countl_zero(value | 1));
  const unsigned digits = (bits + 3) / 4;
  for (unsigned i = digits; i-- > 0; value >>= 4) out[i] = letters[value & 15];
  return out + digits;
}

}  // namespace

char* write_padded(char* out, uint64_t value, unsigned digits) {
  write_digits(out + digits, value, digits);
  return out + digits;
}

char* write_decimal(char* out, uint64_t value) {
  if (value < 10) {
    *out = static_cast<char>('0' + value);
    return out + 1;
  }
  return write_padded(out, value, decimal_digits(value));
}

char* write_decimal(char* out, int64_t value) {
  auto magnitude = static_cast<uint64_t>(value);
  if (value < 0) {
    *out++ = '-';
    magnitude = 0 - magnitude;
  }
  return write_decimal(out, magnitude);
}

char* write_hex(char* out, uint64_t value) { return write_hex(out, value, "0123456789abcdef"); }
char* write_upper_hex(char* out, uint64_t value) {
  return write_hex(out, value, "0123456789ABCDEF");
}

TextBuffer::TextBuffer(size_t capacity)
    : data_(std::make_unique_for_overwrite<char[]>(capacity)), capacity_(capacity) {}

void TextBuffer::grow(size_t extra) {
  const size_t capacity = std::max(capacity_ * 2, size_ + extra);
  auto bigger = std::make_unique_for_overwrite<char[]>(capacity);
  std::memcpy(bigger.get(), data_.get(), size_);
  data_ = std::move(bigger);
  capacity_ = capacity;
}

void TextBuffer::put_decimal(uint64_t value) { advance_to(write_decimal(room(20), value)); }
void TextBuffer::put_decimal(int64_t value) { advance_to(write_decimal(room(20), value)); }
void TextBuffer::put_hex(uint64_t value) { advance_to(write_hex(room(16), value)); }

void TextBuffer::put_decimal(uint64_t value, unsigned width, char fill) {
  const unsigned digits = decimal_digits(value);
  if (digits < width) put(width - digits, fill);
  put_decimal(value);
}

}  // namespace strata
