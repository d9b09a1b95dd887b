// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"

namespace strata::ctf {

// What a CTF trace's metadata say, whichever language they say it in (TSDL of CTF 1.8, JSON of
// CTF 2). Names that mean something in TSDL ("timestamp_begin" in a packet context) have become
// roles; leading underscores are gone; type names are resolved; arrays of 8-bit characters are
// strings.

// The parts of a packet and of an event record, in the order in which they lie.
enum class Scope : uint8_t {
  PacketHeader,
  PacketContext,
  EventHeader,
  EventCommonContext,
  EventSpecificContext,
  EventPayload,
};

// What an integer (or the BLOB with a trace's UUID) is for, besides being a value.
enum class FieldRole : uint8_t {
  None,
  PacketMagic,
  MetadataUuid,
  StreamClassId,
  StreamId,
  PacketTotalLength,    // in bits
  PacketContentLength,  // in bits
  Timestamp,            // of the event; in a packet context, of the packet's begin
  PacketEndTimestamp,
  DiscardedEvents,
  PacketSequenceNumber,
  EventClassId,
};

// A field that comes before, and whose value decides the length or the choice of a later one.
struct FieldPath {
  Scope scope = Scope::EventPayload;
  std::vector<std::string> names;  // from the scope's structure down, through variants too
  bool operator==(const FieldPath&) const = default;
};

// Integers from `first` to `last`, compared as the selector's signedness says.
struct IntegerRange {
  int64_t first = 0;  // of an unsigned selector: the same 64 bits
  int64_t last = 0;
  bool operator==(const IntegerRange&) const = default;
};

struct Mapping {  // of an enumeration, or of a bit map: a name for ranges of values (of bits)
  std::string name;
  std::vector<IntegerRange> ranges;
};

enum class Encoding : uint8_t { Utf8, Utf16Be, Utf16Le, Utf32Be, Utf32Le };

struct FieldClass;
using FieldClassPtr = std::unique_ptr<FieldClass>;

struct Integer {
  uint32_t size = 8;  // in bits, 1 to 64; 0: variable length (LEB128)
  bool is_signed = false;
  bool is_bool = false;  // shown as true or false
  ByteOrder order = kNativeOrder;
  bool reversed_bits =
      false;          // CTF 2: the first bit is the most significant, against the byte order
  uint8_t base = 10;  // to be shown in: 2, 8, 10, 16
  FieldRole role = FieldRole::None;
  bool is_clock = false;  // a reading of the stream class's clock
  std::vector<Mapping> mappings;
  bool is_enum = false;     // `mappings` name values
  bool is_bit_map = false;  // `mappings` name bits
  // Where its value is kept while later fields need it; see resolve.h. Nearly always none or one.
  std::vector<int> slots = {};
  bool seen = false;             // resolve() has passed it: whoever refers to it comes later
  bool is_needed_later = false;  // by fields of another scope
};

struct Float {
  uint32_t size = 64;  // 16, 32, 64 or 128 bits
  ByteOrder order = kNativeOrder;
};

struct Text {
  enum class Extent : uint8_t { Terminated, Fixed, Counted } extent = Extent::Terminated;
  Encoding encoding = Encoding::Utf8;
  uint64_t length = 0;  // Fixed: in bytes
  FieldPath count;      // Counted: the field with the number of bytes
  int slot = -1;        // that field's
};

struct Blob {
  std::string media_type = "application/octet-stream";
  std::optional<uint64_t> length;  // in bytes
  FieldPath count;                 // where there is no length
  int slot = -1;                   // that field's
  FieldRole role = FieldRole::None;
};

struct Array {
  FieldClassPtr element;
  std::optional<uint64_t> length;
  FieldPath count;  // where there is no length
  int slot = -1;    // that field's
};

struct Member {
  std::string name;
  FieldClassPtr type;
};

struct Structure {
  std::vector<Member> members;
};

struct Variant {
  struct Choice {
    std::string name;
    std::vector<IntegerRange> ranges;  // of the selector
    FieldClassPtr type;
  };
  FieldPath selector;
  int slot = -1;  // the selector's
  bool selector_is_signed = false;
  std::vector<Choice> choices;
};

struct Optional {
  FieldPath selector;
  int slot = -1;  // the selector's
  bool selector_is_signed = false;
  std::vector<IntegerRange> ranges;  // empty: the selector is a boolean
  FieldClassPtr type;
};

struct FieldClass {
  std::variant<Integer, Float, Text, Blob, Array, Structure, Variant, Optional> kind;
  // In bits. Of structures and arrays, at least that of what they hold; variants and optionals have
  // none of their own.
  uint32_t alignment = 1;
};

struct Clock {
  std::string name;
  std::string nspace;  // CTF 2: whose `name` and `uid` it is
  std::string uid;     // UUID or other identity: equal ones are the same clock
  std::string description;
  uint64_t frequency = 1'000'000'000;
  std::optional<uint64_t> precision;
  int64_t offset_seconds = 0;
  uint64_t offset_cycles = 0;  // less than a second's
  bool since_epoch = true;     // CTF 1.8: "absolute"; CTF 2: its origin is the Unix epoch
  std::string origin;  // CTF 2: identity of another origin, to be compared with other clocks' alone

  // Offsets of any size, `frequency` being set. False: they do not fit.
  bool set_offset(int64_t seconds, int64_t cycles);
};

struct EventClass {
  uint64_t id = 0;
  std::string name;
  std::string nspace;
  std::optional<int64_t> log_level;
  std::string emf_uri;
  FieldClassPtr specific_context;
  FieldClassPtr payload;
};

struct StreamClass {
  uint64_t id = 0;
  std::string name;
  std::optional<size_t> clock;  // into Description::clocks
  FieldClassPtr packet_context;
  FieldClassPtr event_header;
  FieldClassPtr common_context;
  std::vector<EventClass> events;
};

struct Description {
  unsigned version = 1;            // 1: CTF 1.8, 2: CTF 2
  ByteOrder order = kNativeOrder;  // of packets' magic numbers
  std::string uuid;                // 16 bytes, or empty
  std::string name;
  std::vector<std::pair<std::string, std::variant<int64_t, std::string>>> environment;
  FieldClassPtr packet_header;
  std::vector<Clock> clocks;
  std::vector<StreamClass> streams;

  const std::variant<int64_t, std::string>* find_environment(std::string_view key) const;
  // The same as text; empty where it is not told.
  std::string environment_text(std::string_view key) const;
};

// The largest alignment of anything in an event of this class, in bits.
uint32_t largest_alignment(const StreamClass& stream);

}  // namespace strata::ctf
