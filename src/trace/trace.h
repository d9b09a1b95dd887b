// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_buffer.h"
#include "trace/clock.h"
#include "trace/clock_map.h"
#include "trace/stream.h"
#include "trace/task_names.h"

namespace strata::trace {

// A virtual machine that a host's trace says it ran.
struct GuestInfo {
  std::string name;
  uint64_t trace_id = 0;   // of the guest's own trace
  std::vector<Tid> vcpus;  // the host's threads that are its CPUs, by number; kNoTid: not told
};

// What a trace says of itself when it opens.
struct TraceInfo {
  std::string path;
  std::string kind;       // "trace.dat 7"
  std::string machine;    // the host's name, where told
  std::string boot;       // its boot's id, where told: traces of one boot of one machine share it
  std::string kernel;     // its release and version
  std::string processor;  // "x86_64", as uname says it: what numbers of system calls mean
  std::string tracer;     // the program that recorded it
  uint32_t cpus = 0;
  Clock clock;
  // False: times are bare readings of `clock` (cycles, counts), for want of a map to nanoseconds.
  bool in_nanoseconds = true;
  // Times are nanoseconds since the epoch; otherwise they are readings of `clock`.
  bool since_epoch = false;
  uint64_t trace_id = 0;       // 0: it has none
  uint64_t host_trace_id = 0;  // of a guest, the trace of its host on whose timeline its events are
  std::vector<GuestInfo> guests;
  std::string warning;  // what whoever uses it should know, though nothing is wrong with it
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

  // Of a trace that is still being written: streams that have come since it was opened, or since it
  // was last asked. Those that are open go on by themselves (Stream::follow()), also with event
  // types that are new.
  virtual std::vector<std::unique_ptr<Stream>> look_again() { return {}; }

  // Its times become those of another trace: `map` leads there from what they were. To be called
  // before streams are opened.
  virtual void follow_clock(ClockMap map, const TraceInfo& reference);

  // The event's fields as its tracer would show them.
  virtual void print_fields(const Event& event, TextBuffer& out) const = 0;

  // A tracer may tell one thing with two events (a function's call and its return) and show both on
  // one line where they follow each other. Such a pair begins with an event of this type, if any;
  // whether two events that follow each other are one; and its text.
  virtual const EventType* pair_opener() const { return nullptr; }
  virtual bool is_pair(const Event&, const Event&) const { return false; }
  virtual void print_pair(const Event& first, const Event& second, TextBuffer& out) const {
    print_fields(first, out);
    print_fields(second, out);
  }

  // What the packet that the event lies in tells of all its events, as { cpu_id = 0 }.
  virtual void print_packet(const Event& event, TextBuffer& out) const;
  // A field that the model cannot read (ValueKind::Compound), as JSON.
  virtual void print_compound(const Event& event, const Field& field, TextBuffer& out) const;

  // Whether events tell their CPU one by one (in CTF, by a context): then a stream is not of one.
  bool events_tell_cpus() const;

  // Names of tasks that the trace tells apart from its events. Events tell more as they come.
  virtual const TaskNames& task_names() const = 0;

  // First and last event's time, found without reading what lies between. Nothing when empty.
  struct Span {
    Nanoseconds begin;
    Nanoseconds end;
  };
  virtual std::optional<Span> time_span() const = 0;
  // Makes `all` reach as far as `part` does.
  static void widen(std::optional<Span>& all, const Span& part);

  // What a recording knows of it: which machine it is of, and which boot of that.
  void set_machine(std::string name, std::string boot) {
    info_.machine = std::move(name);
    info_.boot = std::move(boot);
  }

  // What could not be read when it opened.
  const std::vector<Error>& problems() const { return problems_; }

 protected:
  TraceInfo info_;
  std::vector<Error> problems_;
};

// What the times of traces that are taken together count from: "epoch", the clock's name, or
// "mixed".
std::string time_base(std::span<const std::unique_ptr<Trace>> traces);

}  // namespace strata::trace
