// SPDX-License-Identifier: Apache-2.0
#include "record/low_priority.h"

#include <linux/ioprio.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace strata::record {
namespace {

void set_priority(pid_t thread, int policy, int io_class) {
  const sched_param none{};
  sched_setscheduler(thread, policy, &none);
  syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, thread, IOPRIO_PRIO_VALUE(io_class, 0));
}

}  // namespace

void give_way(pid_t thread) { set_priority(thread, SCHED_IDLE, IOPRIO_CLASS_IDLE); }
void be_ordinary(pid_t thread) { set_priority(thread, SCHED_OTHER, IOPRIO_CLASS_NONE); }

}  // namespace strata::record
