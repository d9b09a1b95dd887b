// SPDX-License-Identifier: Apache-2.0
#include "kernel/profiles.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/near_names.h"
#include "base/small_file.h"
#include "kernel/built_in_profiles.h"
#include "kernel/profile_text.h"

namespace strata::kernel {
namespace {

// More than anybody writes; less than hurts.
constexpr size_t kLargestFile = size_t{1} << 20;

// The first of the alternatives that this kernel has; whether it has any.
bool mark_term(const EventCatalog& catalog, const ProfileTerm& term, EventCatalog::Marks& marks) {
  return std::any_of(term.alternatives.begin(), term.alternatives.end(),
                     [&](const std::string& pattern) {
                       EventCatalog::Marks found = catalog.none();
                       if (!catalog.mark(trace::EventPattern(pattern), found)) return false;
                       bool any = false;
                       for (size_t i = 0; i < found.size(); ++i) {
                         if (!found[i] || catalog.events()[i].dynamic) continue;
                         marks[i] = true;
                         any = true;
                       }
                       return any;
                     });
}

EventCatalog::Marks choose_own(const EventCatalog& catalog, const Profile& profile,
                               const std::vector<EventCatalog::Marks>& included,
                               std::vector<std::string>& missing) {
  EventCatalog::Marks chosen = catalog.none();
  EventCatalog::Marks left_out = catalog.none();
  for (size_t place : profile.includes)
    for (size_t i = 0; i < chosen.size(); ++i)
      if (included[place][i]) chosen[i] = true;
  for (const ProfileTerm& term : profile.terms) {
    const bool found = mark_term(catalog, term, term.excluded ? left_out : chosen);
    if (!found && !term.excluded) missing.push_back(term.text());
  }
  for (size_t i = 0; i < chosen.size(); ++i)
    if (left_out[i]) chosen[i] = false;
  return chosen;
}

}  // namespace

std::string ProfileTerm::text() const {
  std::string text = excluded ? "!" : "";
  for (size_t i = 0; i < alternatives.size(); ++i) text += (i > 0 ? "|" : "") + alternatives[i];
  return text;
}

Profiles Profiles::built_in() {
  Profiles profiles;
  const Status added = profiles.add_text(kBuiltInProfiles, "built-in profiles");
  if (!added) std::abort();  // a test reads them
  for (Profile& profile : profiles.all_) profile.built_in = true;
  return profiles;
}

Status Profiles::add_file(const std::string& path) {
  Result<std::string> text = read_small_file(path, kLargestFile);
  if (!text) return std::move(text).error();
  return add_text(*text, path);
}

Status Profiles::add_text(std::string_view text, const std::string& path) {
  Result<std::vector<Profile>> added = parse_profiles(text, all_, path);
  if (!added) return std::move(added).error();
  for (Profile& profile : *added) all_.push_back(std::move(profile));
  return {};
}

Result<const Profile*> Profiles::find(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const Profile& profile : all_) {
    if (profile.name == name) return &profile;
    names.push_back(profile.name);
  }
  return Error{"", std::nullopt,
               "there is no profile '" + std::string(name) + "'" + did_you_mean(name, names) +
                   ": 'strata events --profiles' lists them"};
}

Result<Profiles::Chosen> Profiles::choose(const EventCatalog& catalog,
                                          std::string_view name) const {
  Result<const Profile*> profile = find(name);
  if (!profile) return std::move(profile).error();

  // What is included stands before what includes it: going down finds what is needed, going up
  // chooses each once, however often it is included.
  const size_t last = static_cast<size_t>(*profile - all_.data());
  std::vector<bool> needed(last + 1, false);
  needed[last] = true;
  for (size_t place = last + 1; place-- > 0;) {
    if (!needed[place]) continue;
    for (size_t other : all_[place].includes) needed[other] = true;
  }
  Chosen chosen;
  std::vector<EventCatalog::Marks> of_each(last + 1);
  for (size_t place = 0; place <= last; ++place)
    if (needed[place]) of_each[place] = choose_own(catalog, all_[place], of_each, chosen.missing);
  chosen.events = std::move(of_each[last]);
  std::sort(chosen.missing.begin(), chosen.missing.end());
  chosen.missing.erase(std::unique(chosen.missing.begin(), chosen.missing.end()),
                       chosen.missing.end());
  return chosen;
}

Result<std::vector<EventChoice>> choose_events(const EventCatalog& catalog,
                                               const Profiles& profiles,
                                               const std::vector<std::string>& profile_names,
                                               const std::vector<std::string>& patterns) {
  Result<EventCatalog::Marks> marks = catalog.mark(patterns);
  if (!marks) return std::move(marks).error();
  for (const std::string& name : profile_names) {
    Result<Profiles::Chosen> chosen = profiles.choose(catalog, name);
    if (!chosen) return std::move(chosen).error();
    for (size_t i = 0; i < marks->size(); ++i)
      if (chosen->events[i]) (*marks)[i] = true;
  }
  return catalog.choices(*marks);
}

}  // namespace strata::kernel
