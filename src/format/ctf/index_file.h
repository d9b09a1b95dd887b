// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strata::ctf {

// What LTTng's index/<stream>.idx says of one packet, in the words of the packet itself.
struct IndexEntry {
  uint64_t offset = 0;  // in the stream's file, in bytes
  uint64_t size = 0;    // in bits
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t discarded = 0;
};

// The index that lies beside a stream's file. Empty where there is none, or one that cannot be
// right: it is never needed, and what it says is checked against the packets that it leads to.
std::vector<IndexEntry> read_index(const std::string& stream_path, uint64_t stream_size);

}  // namespace strata::ctf
