// SPDX-License-Identifier: Apache-2.0
#include "state/mode.h"

#include <array>

namespace strata::state {
namespace {

constexpr std::array<std::string_view, kModes> kModeNames = {
    "UNKNOWN", "IDLE", "USER", "SYSCALL", "TRAP", "IRQ", "SOFTIRQ", "VIRT", "KERNEL"};

constexpr std::array<std::string_view, kTaskStates> kTaskStateNames = {
    "unknown",    "running",    "user",      "syscall",    "trap",      "irq",
    "softirq",    "virt",       "kernel",    "exiting",    "wait-cpu",  "wait-disk",
    "wait-net",   "wait-futex", "wait-pipe", "wait-timer", "wait-poll", "wait-child",
    "wait-fault", "wait-other", "new",       "stopped",    "zombie",    "dead"};

constexpr std::array<std::string_view, kVcpuStates> kVcpuStateNames = {
    "unknown", "guest", "hypervisor", "user-space", "halted", "preempted", "blocked"};

}  // namespace

std::string_view name_of(Mode mode) { return kModeNames[static_cast<size_t>(mode)]; }
std::string_view name_of(TaskState state) { return kTaskStateNames[static_cast<size_t>(state)]; }
std::string_view name_of(VcpuState state) { return kVcpuStateNames[static_cast<size_t>(state)]; }

bool is_interrupt(Mode mode) { return mode == Mode::Irq || mode == Mode::Softirq; }

TaskState running_in(Mode mode) {
  switch (mode) {
    case Mode::User:
      return TaskState::User;
    case Mode::Syscall:
      return TaskState::Syscall;
    case Mode::Trap:
      return TaskState::Trap;
    case Mode::Irq:
      return TaskState::Irq;
    case Mode::Softirq:
      return TaskState::Softirq;
    case Mode::Virt:
      return TaskState::Virt;
    case Mode::Kernel:
      return TaskState::Kernel;
    default:
      return TaskState::RunUnknown;
  }
}

}  // namespace strata::state
