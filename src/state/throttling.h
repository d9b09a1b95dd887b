// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "state/names.h"
#include "trace/event.h"
#include "trace/samples.h"

namespace strata::state {

// How cgroups with a CPU limit were throttled, from samples of what their kernel had counted: so it
// is the cgroup's and of all its CPUs together, no task's; what happened between two samples counts
// when the second one comes; and what was before the first one is left out.
class Throttling {
 public:
  struct Counts {
    uint64_t periods = 0;       // in which it wanted to run
    uint64_t throttled = 0;     // in how many of these it was throttled
    uint64_t throttled_ns = 0;  // for how long
  };

  // Whether events of this type are samples.
  bool add_type(const trace::EventType& type);
  // False: the event is no sample.
  bool take(const trace::Event& event, Names& names);
  void reset();

  // Cgroups that have a limit, by their name.
  const std::map<NameId, Counts>& cgroups() const { return cgroups_; }

 private:
  std::unordered_map<const trace::EventType*, trace::ThrottlingSample> types_;
  std::unordered_map<NameId, Counts> last_;
  std::map<NameId, Counts> cgroups_;
};

}  // namespace strata::state
