// SPDX-License-Identifier: Apache-2.0
#include "state/vm.h"

#include <algorithm>

namespace strata::state {

VmIndex Vms::vm_of(Tid process) {
  const auto [found, is_new] = by_process_.emplace(process, static_cast<VmIndex>(vms_.size()));
  if (is_new) vms_.push_back({.process = process});
  return found->second;
}

VcpuIndex Vms::vcpu_of(Tid process, uint32_t number, TaskId task, int64_t now) {
  const VmIndex vm = vm_of(process);
  std::vector<VcpuIndex>& known = vms_[vm].vcpus;
  const auto found =
      std::ranges::find_if(known, [&](VcpuIndex v) { return vcpus_[v].number == number; });
  if (found != known.end()) return *found;
  known.push_back(static_cast<VcpuIndex>(vcpus_.size()));
  vcpus_.push_back({.vm = vm, .number = number, .task = task, .began = now, .since = now});
  return known.back();
}

}  // namespace strata::state
