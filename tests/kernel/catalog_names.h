// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/event_catalog.h"

namespace strata::kernel {

// "sched:sched_switch", for comparing.
inline std::vector<std::string> names_of(const std::vector<EventChoice>& choices) {
  std::vector<std::string> names;
  for (const EventChoice& choice : choices) names.push_back(choice.full_name());
  return names;
}

// A kernel that has these events, separated by blanks.
inline EventCatalog made_up(std::string_view events, std::string_view dynamic = "") {
  std::string lines;
  for (char c : events) lines += c == ' ' ? '\n' : c;
  return EventCatalog(lines + "\n", dynamic, "");
}

}  // namespace strata::kernel
