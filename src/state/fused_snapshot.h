// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "state/snapshot.h"
#include "state/vm.h"

namespace strata::state {

// A machine at one moment, with those of its virtual CPUs that are CPUs of other machines at the
// same moment.
struct MachineAt {
  std::string name;
  Snapshot snapshot;
  std::vector<GuestCpuName> guests;
};

// What a physical CPU really runs: its own machine's task, or a guest's.
struct FusedCpuAt {
  std::string machine;  // whose code it is
  CpuIndex cpu = 0;     // that it is there: of the guest, if it is a guest's
  const CpuAt* at = nullptr;
};
// Of CPU `cpu` of `machine`, which must be one of `machines`.
FusedCpuAt fused_cpu(std::span<const MachineAt> machines, const MachineAt& machine,
                     const CpuAt& cpu);

// The virtual CPU on its host that a guest's CPU is. Null: nobody knows.
const VcpuAt* vcpu_behind(std::span<const MachineAt> machines, const std::string& guest,
                          CpuIndex cpu);

}  // namespace strata::state
