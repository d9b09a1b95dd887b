// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace strata::kernel {

// Which threads to follow, where not everything is to be recorded. The kernel goes on from them to
// what they start by itself.

// All threads of a process; an error where there is no such process.
Result<std::vector<pid_t>> threads_of(pid_t process);

// Of all processes that are in this control group now, or in one below it. `path` is absolute, or
// counts from where control groups are mounted.
Result<std::vector<pid_t>> threads_in_cgroup(const std::string& path);

// The control group of a container, by its name or (the start of) its id, as Docker, Podman, LXC,
// systemd-nspawn and Kubernetes name them. An error where none or several match.
Result<std::string> cgroup_of_container(const std::string& name);

}  // namespace strata::kernel
