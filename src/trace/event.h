// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/units.h"
#include "trace/event_type.h"

namespace strata::trace {

class Stream;

// One event: a view. Its record stays where it was read (the mapped file, the decompressed page)
// and is valid until the stream it came from takes its next step.
struct Event {
  const EventType* type = nullptr;
  Bytes record;      // all its fields, the common ones included
  Ticks ticks{};     // what the tracer stamped
  Nanoseconds time;  // the same instant on the common timeline
  CpuId cpu{};
  Tid running{0};  // where the event does not tell it itself; kNoTid where nobody knows
  // Events that were lost just before this one: a number, and whether there were more, uncounted.
  bool lost_unknown = false;
  uint64_t lost = 0;
  const Stream* stream = nullptr;  // that it came from
  Bases bases = nullptr;           // where fields lie that have no fixed offset; see Location

  std::optional<int64_t> integer(const FieldRef& ref) const {
    return read_integer(record, ref, bases);
  }
  std::optional<double> real(const FieldRef& ref) const { return read_float(record, ref, bases); }
  std::string_view text(const FieldRef& ref) const { return read_text(record, ref, bases); }
  Bytes bytes(const FieldRef& ref) const { return read_bytes(record, ref, bases); }
  // The thread that was running: told by the event, or else by what its CPU did before.
  Tid tid() const {
    int64_t tid = raw(running);
    load_integer(record, type->tid, bases, tid);
    return Tid(static_cast<int32_t>(tid));
  }
};

}  // namespace strata::trace
