// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "collect/process_files.h"

namespace strata::collect {

// A process that has limited its own system calls (seccomp). Its first event of a site that is
// switched on makes some of which the filter may not know, and then may kill it.
struct FilteredProcess {
  pid_t process = 0;
  std::string name;
};

// Whether the Seccomp line of /proc/PID/status, or of a thread's, says so.
bool is_filtered(std::string_view status);

// Those with a filter, in any of their threads, that have mapped the file, or may have: what cannot
// be read is not taken for harmless.
std::vector<FilteredProcess> filtered_processes(const FileIdentity& file);

}  // namespace strata::collect
