// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "base/text_buffer.h"
#include "ftrace/kernel_text.h"
#include "trace/event.h"

namespace strata::ftrace {

// The text of an event's fields, as `trace-cmd report` shows it.
//
// Three ways lead to it, chosen once per event type, when its first event is shown: a print format
// compiled to a flat program (text_program.h); for the few events for which trace-cmd has a text of
// its own, that text (known_texts.h); and for what remains, libtraceevent. A record is checked
// against its type's fields before it goes to libtraceevent, which trusts it.
//
// Not for several threads at once.
class EventText {
 public:
  // `types` and the texts must outlive it.
  EventText(std::span<const trace::EventType* const> types, KernelText kernel);
  ~EventText();

  void print(const trace::Event& event, TextBuffer& out) const;

  // The function graph tracer's calls and returns: where the event that comes next, of all CPUs, is
  // the return from the very call that `entry` is, trace-cmd shows both as one line, print_leaf(),
  // and passes over the return.
  static bool is_leaf(const trace::Event& entry, const trace::Event& next);
  void print_leaf(const trace::Event& entry, const trace::Event& exit, TextBuffer& out) const;

  // Which way an event type takes.
  enum class Way : uint8_t { Program, Known, Libtraceevent, Fields };
  Way way(const trace::EventType& type) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::ftrace
