// SPDX-License-Identifier: Apache-2.0
#include "live/cgroup_names.h"

#include "base/small_file.h"
#include "kernel/proc_text.h"

namespace strata::live {

void CgroupNames::name(const TaskSlot& slot, period::TaskRow& row) {
  const std::pair key{slot.cgroup, slot.cpu_cgroup};
  auto found = known_.find(key);
  if (found == known_.end()) {
    // Who has ended is in none any more.
    if (allowed_ == 0 || slot.has_ended != 0) return;
    --allowed_;
    const Result<std::string> text =
        read_small_file("/proc/" + std::to_string(slot.tid) + "/cgroup");
    if (!text) return;
    Names names{.cgroup = std::string(kernel::parse_cgroup(*text)), .container = {}};
    if (const auto container = kernel::container_of(names.cgroup))
      names.container = container->name;
    found = known_.emplace(key, std::move(names)).first;
  }
  row.cgroup = found->second.cgroup;
  row.container = found->second.container;
}

}  // namespace strata::live
