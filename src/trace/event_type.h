// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/field.h"
#include "trace/vocabulary.h"

namespace strata::trace {

// What all events of one tracepoint share. Made when a trace opens, never changed afterwards;
// events point to it.
struct EventType {
  uint32_t id = 0;     // the trace's own number for it
  std::string system;  // "sched"; an application's provider
  std::string name;    // "sched_switch"
  std::vector<Field> fields;
  uint32_t common_fields = 0;  // the first so many of `fields` are every event's
  std::string print_format;    // how the tracer would show it, in its own language
  std::string declaration;     // the tracer's own text that declares it
  ByteOrder order = kNativeOrder;

  // What it means, in the project's own words, and where the fields of that meaning are.
  Binding meaning;
  // Where the thread that was running is told, if every event tells it, and its name.
  FieldRef tid;
  FieldRef comm;

  const Field* find(std::string_view field_name) const;
  // A field by name, resolved; reads nothing where there is none.
  FieldRef ref(std::string_view field_name) const;
};

}  // namespace strata::trace
