// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "history/file.h"

namespace strata::history {

// Tells bytes from those that a bad disk or a program that was killed made of them; not from those
// that somebody made on purpose. `before`: of what precedes them.
inline uint64_t checksum(std::span<const uint8_t> bytes, uint64_t before = 0) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  uint64_t sum = before ^ (bytes.size() * kFactor);
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t size = bytes.size() < sizeof word ? bytes.size() : sizeof word;
    std::memcpy(&word, bytes.data(), size);
    sum = (sum ^ word) * kFactor;
    sum ^= sum >> 29;
    bytes = bytes.subspan(size);
  }
  return sum;
}

// Of a directory and its footer, but for the checksum in it.
inline uint64_t checksum_of(const Footer& footer, std::span<const uint8_t> directory) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&footer);
  return checksum({bytes, offsetof(Footer, checksum)}, checksum(directory));
}

}  // namespace strata::history
