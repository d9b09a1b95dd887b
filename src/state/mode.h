// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "history/interval.h"

namespace strata::state {

// What a CPU spends its time in. Modes nest as they do in the kernel: a system call is on top of
// the user's code, an interrupt on top of either; time is charged to the top.
enum class Mode : uint8_t {
  Unknown,  // nobody told yet, or events were lost
  Idle,
  User,     // a program's own code
  Syscall,  // the kernel, on a program's behalf
  Trap,     // the kernel, because the program could not go on: a page fault
  Irq,      // a device's interrupt, or the processor's own
  Softirq,  // what interrupts left to be done soon
  Virt,     // a guest's code
  Kernel,   // a thread that the kernel runs for itself
  Count_,
};
constexpr auto kModes = static_cast<size_t>(Mode::Count_);

std::string_view name_of(Mode mode);  // "SYSCALL"
bool is_interrupt(Mode mode);

// What a task is doing: running, in some mode; or not.
enum class TaskState : uint8_t {
  Unknown,
  // Running, as Mode has them.
  RunUnknown,  // it runs; in which mode is not told
  User,
  Syscall,
  Trap,
  Irq,      // it would run, but its CPU handles an interrupt
  Softirq,  // the same
  Virt,
  Kernel,
  Exiting,  // it is on its way out, in the kernel
  // Not running.
  WaitCpu,   // it could; its CPU runs another
  WaitDisk,  // from here on: it waits for something else
  WaitNetwork,
  WaitFutex,
  WaitPipe,
  WaitTimer,
  WaitPoll,  // for any of several
  WaitChild,
  WaitFault,  // for a page
  WaitOther,  // for what, nobody told
  New,        // made, but it never ran
  Stopped,    // by a signal, or a debugger
  Zombie,     // it ended, and nobody has asked how yet
  Dead,
  Count_,
};
constexpr auto kTaskStates = static_cast<size_t>(TaskState::Count_);
static_assert(kTaskStates <= history::kStates);

std::string_view name_of(TaskState state);  // "wait-disk"
inline bool is_running(TaskState state) {
  return state >= TaskState::RunUnknown && state <= TaskState::Exiting;
}
inline bool is_blocked(TaskState state) {
  return state >= TaskState::WaitDisk && state <= TaskState::WaitOther;
}
// Of a task that runs in this mode.
TaskState running_in(Mode mode);

// What a virtual CPU is doing, seen from the host.
enum class VcpuState : uint8_t {
  Unknown,
  Guest,       // it runs the guest's code
  Hypervisor,  // the host's kernel handles an exit
  UserSpace,   // the program that emulates the machine does
  Halted,      // the guest had nothing to do
  Preempted,   // it could run, but its CPU runs another task
  Blocked,     // the emulating thread waits for something
  Count_,
};
constexpr auto kVcpuStates = static_cast<size_t>(VcpuState::Count_);

std::string_view name_of(VcpuState state);

}  // namespace strata::state
