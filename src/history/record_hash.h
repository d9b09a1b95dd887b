// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace strata::history {

// The bit that stands for a subject in a block's RecordBlock::subjects.
inline uint64_t subject_bit(int64_t subject) {
  return uint64_t{1} << (static_cast<uint64_t>(subject) * 0x9e3779b97f4a7c15 >> 58);
}

// Signed numbers of which most are near 0.
inline uint64_t zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t from_zigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

}  // namespace strata::history
