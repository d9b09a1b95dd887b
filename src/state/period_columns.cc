// SPDX-License-Identifier: Apache-2.0
#include "state/period_columns.h"

#include <array>

namespace strata::state {

using period::Column;

std::optional<Column> column_of(TaskState state) {
  using enum Column;
  constexpr std::array<Column, kTaskStates - 1> kOf = {
      Unknown,  Running,   User,      Syscall,   Trap,    Irq,       Softirq,  Virt,
      Kernel,   Exiting,   WaitCpu,   WaitDisk,  WaitNet, WaitFutex, WaitPipe, WaitTimer,
      WaitPoll, WaitChild, WaitFault, WaitOther, New,     Stopped,   Zombie};
  static_assert(static_cast<size_t>(TaskState::Dead) == kOf.size());
  if (state == TaskState::Dead) return std::nullopt;
  return kOf[static_cast<size_t>(state)];
}

Column column_of(Mode mode) {
  using enum Column;
  constexpr std::array<Column, kModes> kOf = {Unknown, Idle,    User, Syscall, Trap,
                                              Irq,     Softirq, Virt, Kernel};
  return kOf[static_cast<size_t>(mode)];
}

Column column_of(VcpuState state) {
  using enum Column;
  constexpr std::array<Column, kVcpuStates> kOf = {Unknown, Guest,     Hypervisor, UserSpace,
                                                   Halted,  Preempted, Blocked};
  return kOf[static_cast<size_t>(state)];
}

}  // namespace strata::state
