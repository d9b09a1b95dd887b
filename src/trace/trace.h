// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_buffer.h"
#include "trace/clock.h"
#include "trace/stream.h"
#include "trace/task_names.h"

namespace strata::trace {

// What a trace says of itself when it opens.
struct TraceInfo {
  std::string path;
  std::string kind;     // "trace.dat 7"
  std::string machine;  // the host's name, where told
  std::string kernel;   // its release and version
  std::string tracer;   // the program that recorded it
  uint32_t cpus = 0;
  Clock clock;
  // False: times are bare readings of `clock` (cycles, counts), for want of a map to nanoseconds.
  bool in_nanoseconds = true;
  // Times are nanoseconds since the epoch; otherwise they are readings of `clock`.
  bool since_epoch = false;
  std::vector<std::pair<std::string, std::string>> properties;  // more, to be shown as it is
};

// One trace: its description, its event types and fresh streams over its events.
class Trace {
 public:
  virtual ~Trace() = default;

  const TraceInfo& info() const { return info_; }
  virtual std::vector<const EventType*> event_types() const = 0;

  // New streams from the start, in the order of ties: buffer, then CPU. They point into this trace
  // and must not outlive it.
  virtual std::vector<std::unique_ptr<Stream>> open_streams() const = 0;

  // The event's fields as its tracer would show them.
  virtual void print_fields(const Event& event, TextBuffer& out) const = 0;

  // Names of tasks that the trace tells apart from its events. Events tell more as they come.
  virtual const TaskNames& task_names() const = 0;

  // First and last event's time, found without reading what lies between. Nothing when empty.
  struct Span {
    Nanoseconds begin;
    Nanoseconds end;
  };
  virtual std::optional<Span> time_span() const = 0;

  // What could not be read when it opened.
  const std::vector<Error>& problems() const { return problems_; }

 protected:
  TraceInfo info_;
  std::vector<Error> problems_;
};

}  // namespace strata::trace
