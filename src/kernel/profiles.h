// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/event_catalog.h"
#include "kernel/instance.h"

namespace strata::kernel {

// What is recorded where nothing is asked for.
inline constexpr std::string_view kDefaultProfile = "system";

// A word of a profile's events: a pattern to add or to leave out; or several of which the first
// that this kernel has is added, since kernels name the same thing differently.
struct ProfileTerm {
  bool excluded = false;
  std::vector<std::string> alternatives;  // at least one

  // As it was written: "sched:*", "!sched:sched_stat_runtime", "syscalls:*|raw_syscalls:*".
  std::string text() const;
};

// A named choice of events, for a purpose. What is chosen depends on the kernel: it is all that
// the included profiles choose and that `terms` add, without what they leave out.
struct Profile {
  std::string name;
  std::string description;       // a line
  std::vector<size_t> includes;  // places in Profiles::all(), all before this one's
  std::vector<ProfileTerm> terms;
  bool built_in = false;
};

// The profiles that there are: ours, and those of files that a user gives (docs/profiles.md).
class Profiles {
 public:
  static Profiles built_in();

  // Adds the profiles of a file. Where it has an error, which tells line and column, nothing is
  // added.
  Status add_file(const std::string& path);
  // The same from its text; `path` is for messages.
  Status add_text(std::string_view text, const std::string& path);

  const std::vector<Profile>& all() const { return all_; }
  // Not there: an error that tells which there are.
  Result<const Profile*> find(std::string_view name) const;

  // What a profile chooses of this kernel's events; and its patterns that nothing matches, those of
  // included profiles too, which is no error.
  struct Chosen {
    EventCatalog::Marks events;
    std::vector<std::string> missing;  // as they were written
  };
  Result<Chosen> choose(const EventCatalog& catalog, std::string_view name) const;

 private:
  std::vector<Profile> all_;
};

// What a recording of these profiles and -e patterns enables: all of them, each once, in order.
Result<std::vector<EventChoice>> choose_events(const EventCatalog& catalog,
                                               const Profiles& profiles,
                                               const std::vector<std::string>& profile_names,
                                               const std::vector<std::string>& patterns);

}  // namespace strata::kernel
