// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
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
  NameId name = kNoName;              // kNoName: nobody told
  std::vector<VcpuIndex> vcpus = {};  // none: they turned out to be another's
};

// How the exits of one reason were handled.
struct ExitSum {
  uint64_t count = 0;
  uint64_t kernel_ns = 0;  // by the host's kernel
  uint64_t user_ns = 0;    // by the program that emulates the machine
};

// What else is counted of a virtual CPU.
enum class VcpuEvent : uint8_t { Injection, Ipi, Mmio, Pio, Msr, PageFault, Count_ };
constexpr auto kVcpuEvents = static_cast<size_t>(VcpuEvent::Count_);
std::string_view name_of(VcpuEvent event);  // "injections"

// Who is at work when a virtual CPU's thread runs and does not run the guest. Where system calls
// are recorded, the thread's mode tells it too.
enum class ExitHandler : uint8_t { Unknown, Kernel, Program };

// A virtual CPU: a thread on the host, a processor in the guest.
struct Vcpu {
  VmIndex vm = kNoVm;
  uint32_t number = 0;          // in its machine
  bool number_is_told = false;  // otherwise they are counted in the order in which they come
  TaskId task = kNoTask;
  VcpuState state = VcpuState::Unknown;
  uint32_t info = 0;  // of Hypervisor, UserSpace and Halted the exit's reason; of Preempted a Cause
  int64_t began = 0;
  int64_t since = 0;  // what was before is in `ns`
  std::array<uint64_t, kVcpuStates> ns = {};
  NameId exit_reason = kNoName;  // of the last exit
  ExitHandler handler = ExitHandler::Unknown;
  std::map<NameId, ExitSum> exits = {};  // by reason
  std::array<uint64_t, kVcpuEvents> events = {};
};

// That a host's virtual CPU is a CPU of another machine whose traces are there too.
struct GuestCpuName {
  VcpuIndex vcpu = kNoVcpu;  // of the host
  std::string machine = {};  // the guest
  CpuIndex cpu = 0;          // of the guest

  bool operator==(const GuestCpuName&) const = default;
};

// The virtual machines of a host. What they are is learned bit by bit: a thread enters a guest
// before anybody told of which process it is, or which CPU of the guest.
class Vms {
 public:
  // The machine whose process this is.
  VmIndex vm_of(Tid process);
  // Virtual CPU `number` of the machine, if it is there.
  VcpuIndex find(VmIndex vm, uint32_t number) const;
  // The same, or a new one. Without a number, the next that is free.
  VcpuIndex vcpu_of(VmIndex vm, std::optional<uint32_t> number, int64_t begin);
  // It is of this process after all.
  void move(VcpuIndex vcpu, Tid process);
  // It is this one of its machine after all.
  void set_number(VcpuIndex vcpu, uint32_t number);
  void set_name(VmIndex vm, NameId name);

  const std::vector<Vm>& vms() const { return vms_; }
  std::vector<Vcpu>& vcpus() { return vcpus_; }
  const std::vector<Vcpu>& vcpus() const { return vcpus_; }
  // Another one means that what machines and virtual CPUs are has changed.
  uint64_t version() const { return version_; }

 private:
  uint32_t free_number(VmIndex vm) const;

  std::vector<Vm> vms_;
  std::vector<Vcpu> vcpus_;
  std::unordered_map<Tid, VmIndex> by_process_;
  uint64_t version_ = 0;
};

// What the processor says why it left the guest, in the words of its maker: VMX exits ("HLT",
// "EPT_VIOLATION") and SVM's, by the isa that the event tells (1 VMX, 2 SVM). Empty: not known.
std::string_view exit_reason_name(uint32_t isa, uint64_t reason);
// The same for ARM: an interrupt, an error, or a trap of a class.
std::string_view arm_exit_name(uint64_t reason, uint64_t trap_class);
// Exits with which a guest says that it has nothing to do.
bool is_halt(std::string_view reason);

// The number that programs put into the names of the threads of virtual CPUs: "CPU 3/KVM",
// "vcpu3", "fc_vcpu 3", "kvm-vcpu-3".
std::optional<uint32_t> vcpu_number_in(std::string_view thread_name);

}  // namespace strata::state
