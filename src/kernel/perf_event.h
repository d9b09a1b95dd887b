// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>

#include "kernel/privilege.h"

namespace strata::kernel {

// The system call perf_event_open, for which the C library has no function.

inline perf_event_attr perf_attributes(uint32_t type, uint64_t config) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  return attributes;
}

// A descriptor; negative: none, see errno. `group`: its leader's descriptor, or -1.
inline int open_perf_event(const perf_event_attr& attributes, pid_t thread, int cpu, int group) {
  const Privilege privilege{Capability::Perfmon};
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, thread, cpu, group, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace strata::kernel
