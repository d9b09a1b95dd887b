// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "format/ctf/cursor.h"
#include "format/ctf/description.h"

namespace strata::ctf {

// What a packet says of itself before its events.
struct Packet {
  const StreamClass* stream = nullptr;
  uint64_t offset = 0;   // in the file, in bytes
  uint64_t size = 0;     // with its padding, in bits
  uint64_t content = 0;  // as far as it is filled, in bits
  uint64_t context = 0;  // where its context begins, in bits from the packet's start
  uint64_t events = 0;   // where the first event begins, in bits from the packet's start
  std::optional<uint64_t> stream_id;
  std::optional<uint64_t> begin;  // readings of the stream's clock
  std::optional<uint64_t> end;
  std::optional<uint64_t> discarded;  // a counter that only grows
  uint32_t discarded_bits = 64;       // and wraps after so many bits
  std::optional<uint64_t> sequence;
  std::optional<uint64_t> cpu;

  // Where it says so: for who writes the packet again with other values.
  struct Place {
    FieldRole role;
    uint64_t bit;  // from the packet's start
    const Integer* type;
  };
  std::vector<Place> places;  // of sizes and times
};

// Reads the header and context of the packet at `offset`. Values that events refer to are left in
// `slots`. A packet whose size is not told goes to the file's end.
Result<Packet> read_packet(const Description& description, const MappedFile& file, uint64_t offset,
                           Slots& slots);

}  // namespace strata::ctf
