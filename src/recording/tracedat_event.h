// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace strata::recording {

// How events of any type become records of the kernel's own tracer: a format file made of their
// fields, decided once, then a few copies an event.
//
//     integers               of 1, 2, 4 or 8 bytes, whichever holds them; signed ones of 4 or 8,
//                            because stock readers do not see the sign of smaller ones
//     texts                  char[N] where their length is fixed, __data_loc char[] where not
//     arrays of integers     u32[N], or __data_loc u32[]; stock readers show elements unsigned
//     floating-point         a __data_loc char[] with the shortest text that reads back as the same
//                            number: the kernel's tracer has no such numbers
//     what else there is     (arrays of structures, strings of UTF-16) a __data_loc char[] of JSON
//
// Fields of structures and of variants' alternatives are called structure_field. What is not in a
// record, an alternative that was not taken, is zero or empty. Context fields come first, with
// "context_" before their name where an event's own field is called the same.
class TracedatEvent {
 public:
  // `id` is its number in the new file, `name` its name there. `trace` must outlive it.
  TracedatEvent(const trace::Trace& trace, const trace::EventType& type, uint16_t id,
                const std::string& name);

  // The text of its format file.
  const std::string& format() const { return format_; }

  // The event as a record, which is valid until the next call. False: it is too long for the
  // format, and was cut.
  bool encode(const trace::Event& event);
  const std::vector<std::byte>& record() const { return record_; }

 private:
  struct Step {
    enum class Kind : uint8_t {
      Integer,   // `size` bytes
      Fixed,     // text or array, cut off or filled up to `size` bytes
      Text,      // with a locator
      Array,     // with a locator, of elements of `element` bytes
      Float,     // with a locator, as text
      Compound,  // with a locator, as JSON
    } kind = Kind::Integer;
    uint32_t offset = 0;  // of the value, or of its locator
    uint32_t size = 0;
    uint32_t element = 1;
    trace::FieldRef ref;
    const trace::Field* field = nullptr;
  };

  void add(const trace::EventType& type, const trace::Field& field, const std::string& name);
  void declare(const std::string& c_type, const std::string& name, const char* brackets,
               uint32_t size, bool is_signed);
  void show(const std::string& name, const std::string& conversion, const std::string& argument);
  void put_number(uint32_t offset, uint64_t value, uint32_t size);
  bool put_located(uint32_t offset, Bytes bytes, bool terminated, uint32_t swapped);

  const trace::Trace& trace_;
  uint16_t id_;
  uint32_t fixed_size_ = 8;  // of the common fields and those with a fixed place
  std::vector<Step> steps_;
  std::string format_;
  std::string shown_;      // of the print format: the text
  std::string arguments_;  // and what goes into it
  std::vector<std::byte> record_;
  TextBuffer text_;
};

// `text` as a name that C would take, which is what readers of format files expect.
std::string c_name(std::string_view text);

}  // namespace strata::recording
