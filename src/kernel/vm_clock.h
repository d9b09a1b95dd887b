// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "clock/kvm_clock.h"

namespace strata::kernel {

constexpr const char* kKvmDebugfs = "/sys/kernel/debug/kvm";

// How KVM makes the counters of a virtual machine's CPUs from this machine's, as its debugfs tells
// now: one for each virtual CPU, at the TSC's present reading. `pid` is the machine's process.
// Empty where debugfs is not mounted or not to be read (only root may), or where there is no such
// machine under KVM.
std::vector<clock::CounterChange> read_vm_clocks(int32_t pid,
                                                 const std::string& debugfs = kKvmDebugfs);

}  // namespace strata::kernel
