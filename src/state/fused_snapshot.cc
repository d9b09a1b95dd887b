// SPDX-License-Identifier: Apache-2.0
#include "state/fused_snapshot.h"

#include <algorithm>

namespace strata::state {

FusedCpuAt fused_cpu(std::span<const MachineAt> machines, const MachineAt& machine,
                     const CpuAt& cpu) {
  FusedCpuAt fused{machine.name, cpu.cpu, &cpu};
  const auto vcpu = std::ranges::find_if(machine.snapshot.vcpus, [&](const VcpuAt& v) {
    return cpu.tid != kNoTid && v.tid == cpu.tid && v.state == VcpuState::Guest;
  });
  if (vcpu == machine.snapshot.vcpus.end()) return fused;
  const auto known = std::ranges::find(machine.guests, vcpu->vcpu, &GuestCpuName::vcpu);
  if (known == machine.guests.end()) return fused;
  const auto guest = std::ranges::find(machines, known->machine, &MachineAt::name);
  if (guest == machines.end() || &*guest == &machine) return fused;
  const auto on = std::ranges::find(guest->snapshot.cpus, known->cpu, &CpuAt::cpu);
  if (on == guest->snapshot.cpus.end()) return fused;
  return {guest->name, known->cpu, &*on};
}

const VcpuAt* vcpu_behind(std::span<const MachineAt> machines, const std::string& guest,
                          CpuIndex cpu) {
  for (const MachineAt& host : machines) {
    for (const GuestCpuName& known : host.guests) {
      if (known.machine != guest || known.cpu != cpu) continue;
      const auto vcpu = std::ranges::find(host.snapshot.vcpus, known.vcpu, &VcpuAt::vcpu);
      if (vcpu != host.snapshot.vcpus.end()) return &*vcpu;
    }
  }
  return nullptr;
}

}  // namespace strata::state
