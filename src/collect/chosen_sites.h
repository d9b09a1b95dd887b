// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <utility>

#include "collect/site.h"

namespace strata::collect {

// The sites that a session records, of those that are on: others may be on for other sessions,
// whose records are in the same rings.
class ChosenSites {
 public:
  // Of all processes, or of one.
  void add(const Site& site, pid_t process = 0) { sites_.emplace(process, name(site)); }

  // None was added: all are taken.
  bool empty() const { return sites_.empty(); }
  bool takes(pid_t process, const Site& site) const {
    return empty() || sites_.contains({0, name(site)}) || sites_.contains({process, name(site)});
  }

 private:
  static std::string name(const Site& site) { return site.provider + ":" + site.name; }

  std::set<std::pair<pid_t, std::string>> sites_;
};

}  // namespace strata::collect
