// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace strata::trace {

// Where a field's value lies.
enum class Location : uint8_t {
  InPlace,   // at its offset
  DataLoc,   // its offset holds a locator: length << 16 | offset from the record's start
  RelLoc,    // the same, but the offset counts from the locator's end
};

enum class ValueKind : uint8_t {
  Integer,
  Pointer,  // an integer that is shown in hexadecimal
  Text,     // characters, up to a NUL or the end
  Array,    // several integers of element_size bytes each
};

// One field of an event type as its tracer declares it.
struct Field {
  std::string name;
  std::string type;  // in the tracer's own words: "unsigned long", "char[16]"
  uint32_t offset = 0;
  uint32_t size = 0;  // in the record; of a located field, the locator's
  uint32_t element_size = 0;
  Location location = Location::InPlace;
  ValueKind kind = ValueKind::Integer;
  bool is_signed = false;

  bool operator==(const Field&) const = default;
};

// A field, resolved: what is needed to read it out of a record and nothing else. A default one
// reads nothing, so that an event type that lacks a field needs no special case.
struct FieldRef {
  uint32_t offset = 0;
  uint32_t size = 0;  // 0: there is no such field
  uint8_t element_size = 0;
  Location location = Location::InPlace;
  ValueKind kind = ValueKind::Integer;
  bool is_signed = false;
  bool swap = false;  // the record's byte order is not this machine's

  FieldRef() = default;
  FieldRef(const Field& field, ByteOrder order);

  explicit operator bool() const { return size != 0; }
};

// The integer `ref` names in `record`; sign-extended where it is signed, so that a cast to uint64_t
// and back loses nothing. Nothing where the record is too short for it.
inline std::optional<int64_t> read_integer(Bytes record, FieldRef ref) {
  if (ref.size == 0 || record.size() < ref.size || record.size() - ref.size < ref.offset)
      [[unlikely]]
    return std::nullopt;
  const std::byte* at = record.data() + ref.offset;
  switch (ref.size) {
    case 4: {
      uint32_t v = load<uint32_t>(at, ref.swap);
      return ref.is_signed ? static_cast<int64_t>(static_cast<int32_t>(v))
                           : static_cast<int64_t>(v);
    }
    case 8:
      return static_cast<int64_t>(load<uint64_t>(at, ref.swap));
    case 2: {
      uint16_t v = load<uint16_t>(at, ref.swap);
      return ref.is_signed ? static_cast<int64_t>(static_cast<int16_t>(v))
                           : static_cast<int64_t>(v);
    }
    case 1: {
      uint8_t v = load<uint8_t>(at, false);
      return ref.is_signed ? static_cast<int64_t>(static_cast<int8_t>(v))
                           : static_cast<int64_t>(v);
    }
    default:
      return std::nullopt;
  }
}

// The bytes of the field's value, found through its locator where it has one. Empty where the
// record is too short, or the locator points out of it.
Bytes read_bytes(Bytes record, FieldRef ref);

// The characters of a text field up to its NUL.
std::string_view read_text(Bytes record, FieldRef ref);

}  // namespace strata::trace
