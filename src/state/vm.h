// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "state/mode.h"
#include "state/names.h"
#include "state/task.h"

namespace strata::state {

using VmIndex = uint32_t;
constexpr VmIndex kNoVm = UINT32_MAX;

// A virtual machine: a process whose threads run guest code.
struct Vm {
  Tid process = kNoTid;
  NameId name = kNoName;  // kNoName: nobody told
  std::vector<VcpuIndex> vcpus = {};
};

// How the exits of one reason were handled.
struct ExitSum {
  uint64_t count = 0;
  uint64_t kernel_ns = 0;  // by the host's kernel
  uint64_t user_ns = 0;    // by the program that emulates the machine
};

// A virtual CPU: a thread on the host, a processor in the guest.
struct Vcpu {
  VmIndex vm = kNoVm;
  uint32_t number = 0;  // in its machine
  TaskId task = kNoTask;
  VcpuState state = VcpuState::Unknown;
  uint32_t info = 0;  // of Hypervisor, UserSpace and Halted the exit's reason; of Preempted a Cause
  int64_t began = 0;
  int64_t since = 0;  // what was before is in `ns`
  std::array<uint64_t, kVcpuStates> ns = {};
  NameId exit_reason = kNoName;          // of the last exit
  std::map<NameId, ExitSum> exits = {};  // by reason
};

// The virtual machines of a host.
class Vms {
 public:
  // The machine whose process this is.
  VmIndex vm_of(Tid process);
  // Virtual CPU `number` of the task's process.
  VcpuIndex vcpu_of(Tid process, uint32_t number, TaskId task, int64_t now);

  std::vector<Vm>& vms() { return vms_; }
  const std::vector<Vm>& vms() const { return vms_; }
  std::vector<Vcpu>& vcpus() { return vcpus_; }
  const std::vector<Vcpu>& vcpus() const { return vcpus_; }

 private:
  std::vector<Vm> vms_;
  std::vector<Vcpu> vcpus_;
  std::unordered_map<Tid, VmIndex> by_process_;
};

// What the processor says why it left the guest, in the words of its maker: VMX exits ("HLT",
// "EPT_VIOLATION") and SVM's, by the isa that the event tells (1 VMX, 2 SVM). Empty: not known.
std::string_view exit_reason_name(uint32_t isa, uint64_t reason);

}  // namespace strata::state
