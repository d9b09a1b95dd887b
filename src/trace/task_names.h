// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/units.h"
#include "trace/event.h"

namespace strata::trace {

// The name of each thread ("comm"). A trace brings some; switches and wake-ups tell the rest.
class TaskNames {
 public:
  // The first name that is heard stays.
  void add(Tid tid, std::string_view name);
  // Learns from an event that names threads.
  void learn(const Event& event);

  // "<idle>" for 0, "<...>" for a thread never heard of.
  std::string_view find(Tid tid) const;
  bool knows(Tid tid) const { return names_.contains(tid); }
  const std::unordered_map<Tid, std::string>& all() const { return names_; }

 private:
  std::unordered_map<Tid, std::string> names_;
};

}  // namespace strata::trace
