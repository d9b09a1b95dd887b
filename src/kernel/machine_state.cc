// SPDX-License-Identifier: Apache-2.0
#include "kernel/machine_state.h"

#include "kernel/privilege.h"

namespace strata::kernel {

Result<MachineState> gather_state(StateClock clock) {
  // Of /proc and /sys alone, whatever is said there: links are read, not followed.
  const Privilege privilege{Capability::DacOverride, Capability::SysPtrace};
  MachineState state;
  state.clock = clock;
  state.begin = now(clock);
  state.devices = gather_devices(clock);
  Result<ProcessState> processes = gather_processes(clock);
  if (!processes) return std::move(processes).error();
  state.processes = *std::move(processes);
  state.machines = find_machines(state.processes.processes, clock);
  state.end = now(clock);
  return state;
}

}  // namespace strata::kernel
