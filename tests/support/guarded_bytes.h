// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/bytes.h"

namespace strata::test {

// A copy of some bytes whose end is the end of readable memory: a read of one byte more crashes,
// whatever it was compiled with.
class GuardedBytes {
 public:
  explicit GuardedBytes(Bytes bytes);
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  Bytes bytes() const { return bytes_; }
  // Others in their place, at most as many as at first.
  void assign(Bytes bytes);

 private:
  std::byte* mapping_ = nullptr;
  size_t mapped_ = 0;
  size_t guard_ = 0;  // where the part begins that cannot be read
  Bytes bytes_;
};

}  // namespace strata::test
