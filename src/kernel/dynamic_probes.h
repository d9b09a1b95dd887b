// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/instance.h"
#include "kernel/probe_plan.h"
#include "kernel/probe_spec.h"
#include "kernel/tracefs.h"

namespace strata::kernel {

// Probes that a session puts into programs and into the kernel. Each becomes an event of the
// session's own group, which instances enable like any other.
//
// The kernel keeps probes for the whole machine, not for an instance, so they outlive whoever made
// them: they are removed with this object, or by whoever watches this process (remove_probes). As
// long as no instance has enabled them they cost nothing.
//
// In this order: the session's instance is made first, since its name makes sure that nobody else
// uses the group; probes are removed when its rings have been read (the kernel empties every ring
// in which a removed event was enabled), or after the instance was.
class DynamicProbes {
 public:
  DynamicProbes(const Tracefs& tracefs, const std::string& session);
  DynamicProbes(DynamicProbes&& other) noexcept;
  DynamicProbes& operator=(DynamicProbes&&) = delete;
  ~DynamicProbes();

  // Finds the places and tells the kernel. What an earlier session of this name left behind is
  // removed first.
  Status add(const ProbeSpec& spec);

  const std::string& group() const { return group_; }
  // What to enable in the instance. A spec is one event, or several where the fields of its places
  // differ (a USDT probe whose arguments the kernel cannot take everywhere).
  std::vector<EventChoice> events() const;
  // What was left out of what was asked for.
  const std::vector<std::string>& remarks() const { return remarks_; }

  // Disables and removes all of them now, for who wants to know whether that worked.
  Status remove();

 private:
  struct Event {
    std::string base;  // the name that its spec wanted
    std::string name;  // that it has
    std::string filter;
    ProbeSite site;  // one of its places
  };
  Status add_site(const ProbeSpec& spec, const std::string& base, const ProbeSite& site,
                  size_t own_events);
  Status tell_kernel(const ProbeSite& site, const std::string& event);
  std::string unique_name(const std::string& base) const;

  Tracefs tracefs_;
  std::string group_;  // empty: moved away
  bool used_ = false;
  ProbePlanner planner_;
  std::vector<Event> events_;
  std::vector<std::string> remarks_;
};

// The group that the probes of a session are in: "strata_<session>", with what cannot be in such a
// name written as '_' and two hexadecimal digits, so that two sessions never share one.
std::string probe_group(std::string_view session);

// All groups of ours that have probes, whether their session is alive or not.
Result<std::vector<std::string>> probe_groups(const Tracefs& tracefs);

// Disables the probes of a group in every instance and removes them, whoever made them; nothing to
// do where there are none.
Status remove_probes(const Tracefs& tracefs, const std::string& group);

}  // namespace strata::kernel
