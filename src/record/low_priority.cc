// SPDX-License-Identifier: Apache-2.0
#include "record/low_priority.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace strata::record {
namespace {

// As <linux/ioprio.h> has them, which is not C++ in every version: it names a parameter `class`.
constexpr int kIoOfThread = 1;  // IOPRIO_WHO_PROCESS, which means a thread
constexpr int kIoClassShift = 13;
enum class IoClass : int { None = 0, Idle = 3 };

void set_priority(pid_t thread, int policy, IoClass io) {
  const sched_param none{};
  sched_setscheduler(thread, policy, &none);
  syscall(SYS_ioprio_set, kIoOfThread, thread, static_cast<int>(io) << kIoClassShift);
}

}  // namespace

void give_way(pid_t thread) { set_priority(thread, SCHED_IDLE, IoClass::Idle); }
void be_ordinary(pid_t thread) { set_priority(thread, SCHED_OTHER, IoClass::None); }

}  // namespace strata::record
