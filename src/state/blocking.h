// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "state/mode.h"

namespace strata::state {

// What a task waits for that went to sleep in this system call, so far as the call alone tells.
// `uninterruptible`: its sleep is one that signals do not end.
TaskState wait_in(std::string_view syscall, bool uninterruptible);

// What a task must have waited for that another woke in this system call; that an interrupt woke.
TaskState wait_ended_by_syscall(std::string_view syscall);
TaskState wait_ended_by_interrupt(Mode mode, std::string_view name);

// Whether a thread of this name is one of the kernel's own, where nobody told. Only names that a
// program has no reason to take.
bool is_kernel_thread_name(std::string_view name);

}  // namespace strata::state
