// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernel/event_catalog.h"
#include "kernel/profiles.h"

namespace strata::record {

// Events that were asked for by pattern, each with the filters that followed it.
struct EventWish {
  std::string pattern;
  std::vector<std::string> filters;

  bool operator==(const EventWish&) const = default;
};

// What to record: the profiles' events and those that were wished for, each once. Filters that came
// before any pattern are for all. Where an event is wished for twice, the later wish's filters
// count, and over a profile's any wish's.
Result<std::vector<kernel::EventChoice>> choose(const kernel::EventCatalog& catalog,
                                                const kernel::Profiles& profiles,
                                                const std::vector<std::string>& profile_names,
                                                const std::vector<EventWish>& wishes,
                                                const std::vector<std::string>& filters_for_all);

}  // namespace strata::record
