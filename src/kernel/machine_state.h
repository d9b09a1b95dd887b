// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernel/device_state.h"
#include "kernel/process_state.h"
#include "kernel/vm_state.h"

namespace strata::kernel {

// What a trace does not tell because it was so before: the state in which a recording starts. It
// takes a while to read, so each piece is stamped with when that was; the stamps go up in the order
// of the members here.
struct MachineState {
  StateClock clock = StateClock::MonotonicRaw;
  uint64_t begin = 0;
  DeviceState devices;
  ProcessState processes;
  std::vector<VirtualMachine> machines;
  uint64_t end = 0;
};

// Of this machine, now. 1,000 processes with 5,000 descriptors take some 60 ms.
Result<MachineState> gather_state(StateClock clock);

}  // namespace strata::kernel
