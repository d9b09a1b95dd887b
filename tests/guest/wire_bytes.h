// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/byte_writer.h"

namespace strata::test {

// What goes over the wire, put down number by number as docs/protocol.md defines it. Not the
// project's own encoder, which is held against this.
class WireBytes {
 public:
  WireBytes& preamble() { return raw("strata-guest 1\r\n"); }
  WireBytes& head(uint32_t size, uint16_t kind, uint32_t recording = 0, uint16_t reserved = 0) {
    return u32(size).u16(kind).u16(reserved).u32(recording);
  }
  WireBytes& u8(uint8_t value) { return (out_.u8(value), *this); }
  WireBytes& u16(uint16_t value) { return (out_.u16(value), *this); }
  WireBytes& u32(uint32_t value) { return (out_.u32(value), *this); }
  WireBytes& u64(uint64_t value) { return (out_.u64(value), *this); }
  WireBytes& raw(std::string_view bytes) { return (out_.text(bytes), *this); }
  WireBytes& raw(Bytes bytes) { return (out_.raw(bytes), *this); }
  // So many times the same byte.
  WireBytes& fill(size_t count, char byte) { return raw(std::string(count, byte)); }

  const std::vector<std::byte>& bytes() const { return out_.bytes(); }

 private:
  ByteWriter out_{ByteOrder::Little};
};

}  // namespace strata::test
