// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "format/ctf/metadata_writer.h"
#include "recording/processes.h"
#include "trace/trace.h"

namespace strata::recording {

// How events of one type of the kernel's own tracer become those of a CTF event type: decided once,
// then a few copies an event. Fields keep their size and byte order; what has a locator or goes on
// to the record's end becomes a string or a sequence.
class EventTranslation {
 public:
  // Named `name`; the common fields and `without` are left out. Both references must outlive it.
  EventTranslation(const trace::Trace& trace, const Processes& processes,
                   const trace::EventType& type, std::string name,
                   std::span<const std::string_view> without = {});

  const ctf::NewEventType& declaration() const { return declaration_; }

  // Appends the event's payload. Where the record is too short for a field, it is zero or empty.
  void append(const trace::Event& event, std::vector<std::byte>& out);

 private:
  struct Step {
    enum class Kind : uint8_t {
      Copy,      // `size` bytes from `offset` on
      Integer,   // through `ref`, as `size` bytes
      String,    // through `ref`
      Sequence,  // through `ref`, of elements of `size` bytes
      RestText,  // from `offset` to the record's end, or a NUL
      Rest,      // the same, as elements of `size` bytes
      Rwbs,      // through `ref`
      Process,   // of the thread that `ref` names
      Address,   // through `ref`, as a string
      Formatted,
    } kind = Kind::Copy;
    uint32_t offset = 0;
    uint32_t size = 0;
    trace::FieldRef ref;
  };

  void add(const trace::EventType& type, const trace::Field& field);
  void add_copy(uint32_t offset, uint32_t size);

  const trace::Trace& trace_;
  const Processes& processes_;
  ctf::NewEventType declaration_;
  std::vector<Step> steps_;
  TextBuffer text_;
};

}  // namespace strata::recording
