// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "state/file_calls.h"
#include "state/mode.h"
#include "state/names.h"

namespace strata::state {

// What a task waits for that went to sleep in this system call, so far as the call alone tells.
// `uninterruptible`: its sleep is one that signals do not end.
TaskState wait_in(std::string_view syscall, bool uninterruptible);

// The same, where it is known what the descriptor leads to that the call is about.
TaskState wait_for(FileKind kind, TaskState otherwise);

// What a task must have waited for that another woke in this system call; that an interrupt woke.
TaskState wait_ended_by_syscall(std::string_view syscall);
TaskState wait_ended_by_interrupt(Mode mode, std::string_view name);

// The same of calls by the numbers of their names: who switches tasks has to know quickly.
class CallWaits {
 public:
  explicit CallWaits(const Names& names) : names_(names) {}

  TaskState in(NameId syscall, bool uninterruptible) {
    return uninterruptible ? known(syscall).uninterruptible : known(syscall).interruptible;
  }
  TaskState ended_by(NameId syscall) { return known(syscall).ended_by; }

 private:
  struct Known {
    TaskState interruptible = TaskState::Unknown;  // which no wait is: not looked up yet
    TaskState uninterruptible = TaskState::Unknown;
    TaskState ended_by = TaskState::Unknown;
  };
  const Known& known(NameId syscall) {
    if (syscall >= known_.size() || known_[syscall].interruptible == TaskState::Unknown)
      look_up(syscall);
    return known_[syscall];
  }
  void look_up(NameId syscall);

  const Names& names_;
  std::vector<Known> known_;
};

// Whether a thread of this name is one of the kernel's own, where nobody told. Only names that a
// program has no reason to take.
bool is_kernel_thread_name(std::string_view name);

}  // namespace strata::state
