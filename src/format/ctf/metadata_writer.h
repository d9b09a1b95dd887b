// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/ctf/new_uuid.h"

namespace strata::ctf {

// What a trace that is to be written consists of, and the text in TSDL (CTF 1.8) that declares it.
// All fields lie on byte boundaries, one directly behind the other, as LTTng lays them on x86.

enum class NewFieldKind : uint8_t {
  Integer,
  Enum,      // an integer whose values have names
  Float,     // of 32 or 64 bits
  String,    // characters and a NUL
  Text,      // `length` bytes of characters; ends at a NUL
  Array,     // `length` integers
  Sequence,  // a count of `count_bits` bits, and as many integers
  TextSequence,
  FloatSequence,
};

struct NewLabel {
  std::string name;
  int64_t first = 0;
  int64_t last = 0;
};

// One field, as it lies in an event's payload. Of arrays and sequences, `bits`, `is_signed`, `base`
// and `order` are their elements'.
struct NewField {
  std::string name;
  NewFieldKind kind = NewFieldKind::Integer;
  uint8_t bits = 32;  // 8, 16, 32 or 64
  bool is_signed = false;
  uint8_t base = 10;  // to be shown in
  ByteOrder order = ByteOrder::Little;
  uint32_t length = 0;
  uint8_t count_bits = 32;  // of sequences
  std::vector<NewLabel> labels;
};

NewField integer_field(std::string name, unsigned bits, bool is_signed, unsigned base = 10);
NewField float_field(std::string name, unsigned bits);
NewField string_field(std::string name);
NewField text_field(std::string name, uint32_t length);
NewField array_field(NewField element, uint32_t length);
NewField sequence_field(NewField element, unsigned count_bits = 32);

struct NewEventType {
  std::string name;
  std::vector<NewField> fields;
  int32_t log_level = -1;  // LTTng-UST's scale: 0 is an emergency, 14 for debugging; -1: none
};

enum class HeaderKind : uint8_t {
  Compact,  // 5 bits of id, 27 of time: 4 bytes as a rule
  Large,    // 16 bits of id, 32 of time: 6 bytes; for more than 31 frequent types
};

struct NewStreamClass {
  HeaderKind header = HeaderKind::Compact;
  std::vector<NewField> event_context;   // of each event, before its payload
  std::vector<NewField> packet_context;  // of each packet, behind those that every packet has
  // Whether each of its streams is a CPU's; else NewStream::cpu is just a number of its own.
  bool per_cpu = true;
};

struct NewClock {
  std::string name = "monotonic";
  std::string description = "Monotonic Clock";
  Uuid uuid{};  // the machine's identity; all zeros: not told
  uint64_t frequency = 1'000'000'000;
  int64_t offset_seconds = 0;  // together: what its reading 0 is, from the epoch
  uint64_t offset_cycles = 0;
  // Says so of the offset ("absolute"); LTTng's clock does not, though it is the same.
  bool since_epoch = false;
};

struct NewTrace {
  Uuid uuid = random_uuid();
  NewClock clock;
  std::vector<std::pair<std::string, std::variant<int64_t, std::string>>> environment;
};

// Whether it can be written: sizes that exist, names that are not empty.
Status check_fields(const std::vector<NewField>& fields);

// The pieces of the metadata text. The first one begins with "/* CTF 1.8 */": readers look for it.
std::string trace_text(const NewTrace& trace);
std::string stream_class_text(uint32_t id, const NewStreamClass& stream);
std::string event_type_text(uint32_t id, uint32_t stream_class, const NewEventType& type);

}  // namespace strata::ctf
