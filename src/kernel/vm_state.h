// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/process_state.h"

namespace strata::kernel {

// The virtual machines on this one.

struct Vcpu {
  uint32_t number = 0;
  int32_t tid = 0;

  bool operator==(const Vcpu&) const = default;
};

struct VirtualMachine {
  uint64_t read_at = 0;  // on the state's clock
  int32_t pid = 0;
  bool kvm = false;  // false: QEMU, which emulates the processor too
  std::string name;  // as QEMU's command line gives it; empty: it gives none
  std::string uuid;
  uint32_t vcpu_count =
      0;  // by its descriptors or threads; more than `vcpus` where not all are known
  std::vector<Vcpu> vcpus;

  bool operator==(const VirtualMachine&) const = default;
};

// A process is a virtual machine when it holds KVM's descriptor of a machine or of a vCPU.
// (/dev/kvm alone is open in whoever only asks what KVM can do.) So is a QEMU without.
//
// Which thread is which vCPU is told by KVM's debugfs, where it is mounted and to be read;
// otherwise by the threads' names ("CPU 0/KVM"), which QEMU gives with -name debug-threads=on, as
// libvirt has it do.
std::vector<VirtualMachine> find_machines(const std::vector<Process>& processes, StateClock clock);

// The value of -name (guest=NAME,... or NAME,...) and of -uuid. `arguments` is the text of
// /proc/PID/cmdline: each ends with a NUL.
void read_qemu_arguments(std::string_view arguments, VirtualMachine& machine);

// The vCPU's number in a thread's name: "CPU 3/KVM", "CPU 3/TCG".
std::optional<uint32_t> vcpu_of_thread_name(std::string_view name);

}  // namespace strata::kernel
