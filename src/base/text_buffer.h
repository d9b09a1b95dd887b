// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace strata {

// Text under construction, at the speed of memory. Whoever writes asks for room first and then
// writes without further checks; there is no terminating NUL.
class TextBuffer {
 public:
  TextBuffer() : TextBuffer(4096) {}
  explicit TextBuffer(size_t capacity);

  std::string_view view() const { return {data_.get(), size_}; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  char back() const { return data_[size_ - 1]; }
  void clear() { size_ = 0; }
  void truncate(size_t size) { size_ = size; }

  // Room for `extra` more characters; the pointer is where they go. advance_to() says where they
  // ended.
  char* room(size_t extra) {
    if (capacity_ - size_ < extra) [[unlikely]]
      grow(extra);
    return data_.get() + size_;
  }
  void advance_to(const char* end) { size_ = static_cast<size_t>(end - data_.get()); }

  void put(char c) {
    *room(1) = c;
    ++size_;
  }
  void put(std::string_view text) {
    if (text.empty()) return;  // its data may be null
    std::memcpy(room(text.size()), text.data(), text.size());
    size_ += text.size();
  }
  void put(size_t count, char c) {
    std::memset(room(count), c, count);
    size_ += count;
  }
  void put_decimal(uint64_t value);
  void put_decimal(int64_t value);
  void put_hex(uint64_t value);
  // Right-aligned in `width` columns, filled with `fill`.
  void put_decimal(uint64_t value, unsigned width, char fill);

 private:
  void grow(size_t extra);

  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// Each writes `value` at `out` and gives the end. The caller has made room: 20 characters do for
// any decimal, 16 for any hex.
char* write_decimal(char* out, uint64_t value);
char* write_decimal(char* out, int64_t value);
char* write_hex(char* out, uint64_t value);
char* write_upper_hex(char* out, uint64_t value);
// Exactly `digits` digits, with leading zeros.
char* write_padded(char* out, uint64_t value, unsigned digits);

}  // namespace strata
