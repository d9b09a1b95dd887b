// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace strata::ctf {

// Structures, variants and arrays within each other.
constexpr unsigned kDeepestField = 64;

// A few lines of metadata can name types within types within types so that they stand for more
// fields than there is memory. What describes a real trace says most of its fields one by one, so
// the number of fields is bounded by the length of the text.
class FieldBudget {
 public:
  explicit FieldBudget(size_t text_size) : left_(kAlways + text_size * kPerByte) {}

  // False from when it is spent.
  bool spend(size_t count = 1) {
    if (count > left_) {
      left_ = 0;
      return false;
    }
    left_ -= count;
    return true;
  }

 private:
  static constexpr size_t kAlways = 100'000;
  static constexpr size_t kPerByte = 4;
  size_t left_;
};

}  // namespace strata::ctf
