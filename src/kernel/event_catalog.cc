// SPDX-License-Identifier: Apache-2.0
#include "kernel/event_catalog.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/glob.h"
#include "base/near_names.h"
#include "base/small_file.h"
#include "ftrace/format_file.h"
#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

using FullName = std::pair<std::string_view, std::string_view>;

template <typename Take>
void for_each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// The event of a line such as "p:group/name place arguments"; "s:name fields" and "u:name fields"
// are events in groups that the kernel names.
FullName dynamic_event(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  std::string_view word = line.substr(colon + 1);
  word = word.substr(0, std::min(word.find_first_of(" \t;"), word.size()));
  const size_t slash = word.find('/');
  if (slash != std::string_view::npos) return {word.substr(0, slash), word.substr(slash + 1)};
  return {line.starts_with('u') ? "user_events" : "synthetic", word};
}

}  // namespace

Result<EventCatalog> EventCatalog::read(const Tracefs& tracefs) {
  const Privilege privilege{Capability::DacOverride};
  Result<std::string> available = read_small_file(tracefs.file("available_events"));
  if (!available) return std::move(available).error();
  // Kernels without dynamic events lack the second file.
  Result<std::string> dynamic = read_small_file(tracefs.file("dynamic_events"));
  EventCatalog catalog(*available, dynamic ? *dynamic : "", tracefs.file("events"));
  catalog.tracefs_ = tracefs;
  return catalog;
}

EventCatalog::EventCatalog(std::string_view available, std::string_view dynamic, std::string folder)
    : folder_(std::move(folder)) {
  std::set<FullName> probes;
  for_each_line(dynamic, [&](std::string_view line) { probes.insert(dynamic_event(line)); });
  for_each_line(available, [&](std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const FullName full(line.substr(0, colon), line.substr(colon + 1));
    events_.push_back({std::string(full.first), std::string(full.second), probes.contains(full)});
  });
  std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return std::tie(a.system, a.name) < std::tie(b.system, b.name);
  });
  const auto same = [](const Event& a, const Event& b) {
    return a.system == b.system && a.name == b.name;
  };
  events_.erase(std::unique(events_.begin(), events_.end(), same), events_.end());
}

const EventCatalog::Event* EventCatalog::find(std::string_view system,
                                              std::string_view name) const {
  const auto before = [](const Event& event, const FullName& wanted) {
    return FullName(event.system, event.name) < wanted;
  };
  const auto at = std::lower_bound(events_.begin(), events_.end(), FullName(system, name), before);
  return at != events_.end() && at->system == system && at->name == name ? &*at : nullptr;
}

Result<std::string> EventCatalog::format_text(std::string_view system,
                                              std::string_view name) const {
  // Only what is in the catalogue becomes a path.
  const Event* event = find(system, name);
  if (event == nullptr)
    return Error{"", std::nullopt,
                 "this kernel has no event " + std::string(system) + ":" + std::string(name)};
  const Privilege privilege{Capability::DacOverride};
  return read_small_file(folder_ + "/" + event->system + "/" + event->name + "/format");
}

Result<trace::EventType> EventCatalog::type(std::string_view system, std::string_view name) const {
  Result<std::string> text = format_text(system, name);
  if (!text) return std::move(text).error();
  Result<trace::EventType> type = ftrace::parse_format_file(system, *text, ftrace::Target{});
  if (type) return type;
  Error error = std::move(type).error();
  error.file = folder_ + "/" + std::string(system) + "/" + std::string(name) + "/format";
  return error;
}

bool EventCatalog::mark(const trace::EventPattern& pattern, Marks& marks) const {
  bool any = false;
  for (size_t i = 0; i < events_.size(); ++i) {
    if (!pattern.matches(events_[i].system, events_[i].name)) continue;
    marks[i] = true;
    any = true;
  }
  return any;
}

std::vector<EventChoice> EventCatalog::choices(const Marks& marks) const {
  std::vector<EventChoice> chosen;
  for (size_t i = 0; i < events_.size(); ++i)
    if (marks[i]) chosen.push_back({events_[i].system, events_[i].name, ""});
  return chosen;
}

Result<EventCatalog::Marks> EventCatalog::mark(const std::vector<std::string>& patterns) const {
  Marks marks = none();
  for (const std::string& pattern : patterns)
    if (!mark(trace::EventPattern(pattern), marks)) return nothing_matches(pattern);
  return marks;
}

Result<std::vector<EventChoice>> EventCatalog::select(
    const std::vector<std::string>& patterns) const {
  Result<Marks> marks = mark(patterns);
  if (!marks) return std::move(marks).error();
  return choices(*marks);
}

Error EventCatalog::nothing_matches(const std::string& pattern) const {
  const size_t colon = pattern.find(':');
  std::string_view word = pattern;
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    if (names.empty() || names.back() != name) names.push_back(name);  // they are sorted
  };
  for (const Event& event : events_) add(event.system);
  std::string what = "no event of this kernel matches '" + pattern + "'";
  if (colon == std::string::npos) {
    for (const Event& event : events_) add(event.name);
  } else {
    const Glob system(pattern.substr(0, colon));
    const bool known = std::any_of(names.begin(), names.end(),
                                   [&](std::string_view name) { return system.matches(name); });
    if (known) {
      names.clear();
      for (const Event& event : events_)
        if (system.matches(event.system)) add(event.name);
      word = word.substr(colon + 1);
    } else {
      word = word.substr(0, colon);
      what += ": it has no system '" + std::string(word) + "'";
    }
  }
  return Error{"", std::nullopt, what + did_you_mean(word, names)};
}

}  // namespace strata::kernel
