// SPDX-License-Identifier: Apache-2.0
#include "record/event_choice.h"

#include <map>

namespace strata::record {
namespace {

// All must hold, as the kernel says it.
std::string joined(const std::vector<std::string>& first, const std::vector<std::string>& second) {
  std::vector<std::string> all = first;
  all.insert(all.end(), second.begin(), second.end());
  if (all.empty()) return {};
  if (all.size() == 1) return all.front();
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "(" : " && (") + one + ")";
  return text;
}

}  // namespace

Result<std::vector<kernel::EventChoice>> choose(const kernel::EventCatalog& catalog,
                                                const kernel::Profiles& profiles,
                                                const std::vector<std::string>& profile_names,
                                                const std::vector<EventWish>& wishes,
                                                const std::vector<std::string>& filters_for_all) {
  std::map<std::string, kernel::EventChoice> chosen;
  const auto add = [&](std::vector<kernel::EventChoice> events, const std::string& filter) {
    for (kernel::EventChoice& event : events) {
      event.filter = filter;
      const std::string name = event.full_name();
      chosen.insert_or_assign(name, std::move(event));
    }
  };
  if (!profile_names.empty()) {
    Result<std::vector<kernel::EventChoice>> events =
        kernel::choose_events(catalog, profiles, profile_names, {});
    if (!events) return std::move(events).error();
    add(*std::move(events), joined(filters_for_all, {}));
  }
  for (const EventWish& wish : wishes) {
    Result<std::vector<kernel::EventChoice>> events = catalog.select({wish.pattern});
    if (!events) return std::move(events).error();
    add(*std::move(events), joined(filters_for_all, wish.filters));
  }
  std::vector<kernel::EventChoice> all;
  for (auto& [name, event] : chosen) all.push_back(std::move(event));
  return all;
}

}  // namespace strata::record
