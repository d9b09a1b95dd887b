// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/instance.h"
#include "kernel/tracefs.h"
#include "trace/event_type.h"
#include "trace/selection.h"

namespace strata::kernel {

// The events that this kernel can trace, by name: what -e and the profiles choose from.
//
// Reading it is reading one file, so that a recording starts at once; an event's format is another
// file, and is read when somebody asks for it.
class EventCatalog {
 public:
  struct Event {
    std::string system;
    std::string name;
    // Somebody's probe, made while the kernel runs. Whoever enables it keeps its owner from
    // removing it: it is chosen by name, never by a profile.
    bool dynamic = false;
  };
  // Some of events(): true at their places.
  using Marks = std::vector<bool>;

  static Result<EventCatalog> read(const Tracefs& tracefs);
  // The same from the texts of available_events and dynamic_events, and the folder that has
  // SYSTEM/EVENT/format.
  EventCatalog(std::string_view available, std::string_view dynamic, std::string folder);

  // Sorted by system, then name.
  const std::vector<Event>& events() const { return events_; }
  const Event* find(std::string_view system, std::string_view name) const;

  // The text of events/SYSTEM/EVENT/format; and what it says.
  Result<std::string> format_text(std::string_view system, std::string_view name) const;
  Result<trace::EventType> type(std::string_view system, std::string_view name) const;

  // Marks what matches; whether anything does.
  bool mark(const trace::EventPattern& pattern, Marks& marks) const;
  Marks none() const { return Marks(events_.size(), false); }
  // In order, without filters.
  std::vector<EventChoice> choices(const Marks& marks) const;

  // What -e asks for: the events that match any of the patterns, in order. A pattern that nothing
  // matches is an error that names it, and what may have been meant.
  Result<Marks> mark(const std::vector<std::string>& patterns) const;
  Result<std::vector<EventChoice>> select(const std::vector<std::string>& patterns) const;

 private:
  Error nothing_matches(const std::string& pattern) const;

  std::vector<Event> events_;
  std::string folder_;
  std::optional<Tracefs> tracefs_;  // keeps a mount of ours while formats may be asked for
};

}  // namespace strata::kernel
