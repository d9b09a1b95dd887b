// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "live/bpf/layout.h"
#include "period/table.h"

namespace strata::live {

// The paths of cgroups, and the containers that they are of. A slot has the kernel's numbers of
// them; the path is read from /proc of the first task that is met in one, once.
class CgroupNames {
 public:
  void name(const TaskSlot& slot, period::TaskRow& row);
  // Until here again, so many new ones are looked up at most; the others later.
  void allow(uint32_t lookups) { allowed_ = lookups; }

 private:
  struct Names {
    std::string cgroup;
    std::string container;
  };
  std::map<std::pair<uint64_t, uint64_t>, Names> known_;
  uint32_t allowed_ = 0;
};

}  // namespace strata::live
