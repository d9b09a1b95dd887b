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
  InPlace,  // at its offset
  DataLoc,  // its offset holds a locator: length << 16 | offset from the record's start
  RelLoc,   // the same, but the offset counts from the locator's end
  // Behind something whose length varies from record to record. Where such things end is found once
  // per event, by whoever reads it, and goes along with it (Bases). The offset counts from there.
  Based,
  BasedBits,  // offset and size are in bits: an integer that does not fill whole bytes
  Span,       // from its offset on up to another base: a string, a sequence
};

// The bit positions, counted from the record's start, from which on offsets are known again. The
// first is 0; kAbsent: what lies there is not in this record (an alternative that was not taken).
using Bases = const uint32_t*;
constexpr uint32_t kAbsent = 0xffffffff;

enum class ValueKind : uint8_t {
  Integer,
  Pointer,   // an integer that is shown in hexadecimal
  Float,     // of 4 or 8 bytes
  Text,      // characters, up to a NUL or the end
  Array,     // several integers of element_size bytes each
  Compound,  // structures, arrays of them: only the trace itself can show it
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
  uint16_t base = 0;      // Based, BasedBits, Span: which base the offset counts from
  uint16_t end_base = 0;  // Span: the base at which it ends
  std::optional<ByteOrder> order = std::nullopt;  // where it is not that of the event type

  bool operator==(const Field&) const = default;
};

// How an integer is read: one load of so many bits, then sign-extended or not; or what needs more
// than that.
enum class IntegerLoad : uint8_t { Other, U32, I32, U64, U16, I16, U8, I8 };

// A field, resolved: what is needed to read it out of a record and nothing else. A default one
// reads nothing, so that an event type that lacks a field needs no special case.
struct FieldRef {
  uint32_t offset = 0;
  uint32_t size = 0;  // 0: there is no such field
  Location location = Location::InPlace;
  IntegerLoad load = IntegerLoad::Other;
  uint16_t base = 0;
  uint16_t end_base = 0;
  uint8_t element_size = 0;
  ValueKind kind = ValueKind::Integer;
  bool is_signed = false;
  bool swap = false;  // the record's byte order is not this machine's
  bool big = false;   // the record's byte order

  FieldRef() = default;
  FieldRef(const Field& field, ByteOrder order);

  explicit operator bool() const { return size != 0; }

  // The unsigned integer of the same size at the same offset, whatever is declared there.
  FieldRef plain() const;
  // The first element of an array, in the array's own bytes.
  FieldRef element() const;

 private:
  void set_load();
};

// Integers that one load does not give: bits, the other byte order, none at all.
std::optional<int64_t> read_other_integer(Bytes record, const FieldRef& ref, Bases bases);

// Reads the integer `ref` names in `record`: sign-extended where it is signed, so that a cast to
// uint64_t and back loses nothing. False, and `value` is left alone, where the record has none.
//
// Value and presence are apart, each in a register: as an optional, written to the stack in pieces
// and read back whole, they would cost every event a failed store forwarding.
inline bool load_integer(Bytes record, const FieldRef& ref, Bases bases, int64_t& value) {
  uint64_t offset = ref.offset;
  // Bytes that no record has, where the base is kAbsent.
  if (ref.location == Location::Based) offset += bases[ref.base] / 8;
  if (ref.load == IntegerLoad::Other || offset + ref.size > record.size()) [[unlikely]] {
    // Too short; or, as of a thread that the event does not tell, no such field.
    if (ref.load != IntegerLoad::Other || ref.size == 0) return false;
    const std::optional<int64_t> other = read_other_integer(record, ref, bases);
    if (other) value = *other;
    return other.has_value();
  }
  const std::byte* at = record.data() + offset;
  if (ref.load == IntegerLoad::I32)
    value = static_cast<int32_t>(load<uint32_t>(at, false));
  else if (ref.load == IntegerLoad::U64)
    value = static_cast<int64_t>(load<uint64_t>(at, false));
  else if (ref.load == IntegerLoad::U32)
    value = load<uint32_t>(at, false);
  else if (ref.load == IntegerLoad::U8)
    value = load<uint8_t>(at, false);
  else if (ref.load == IntegerLoad::U16)
    value = load<uint16_t>(at, false);
  else if (ref.load == IntegerLoad::I16)
    value = static_cast<int16_t>(load<uint16_t>(at, false));
  else
    value = static_cast<int8_t>(load<uint8_t>(at, false));
  return true;
}

inline std::optional<int64_t> read_integer(Bytes record, const FieldRef& ref,
                                           Bases bases = nullptr) {
  int64_t value = 0;
  if (!load_integer(record, ref, bases, value)) return std::nullopt;
  return value;
}

// The bytes of the field's value, found through its locator where it has one. Empty where the
// record is too short, or the locator points out of it.
Bytes read_bytes(Bytes record, const FieldRef& ref, Bases bases = nullptr);

// The characters of a text field up to its NUL.
std::string_view read_text(Bytes record, const FieldRef& ref, Bases bases = nullptr);

std::optional<double> read_float(Bytes record, const FieldRef& ref, Bases bases = nullptr);

// `count` bits (1 to 64) from bit `first` on, as CTF lays integers: in little-endian records the
// first bit is the least significant one, in big-endian records the most significant one. The bits
// must be there.
uint64_t read_bits(const std::byte* bytes, uint64_t first, uint32_t count, bool big_endian);
void write_bits(std::byte* bytes, uint64_t first, uint32_t count, bool big_endian, uint64_t value);

}  // namespace strata::trace
