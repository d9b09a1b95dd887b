// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "collect/process_files.h"
#include "collect/site_file.h"

namespace strata::collect {

struct LeftFlags {
  size_t cleared = 0;  // sites, in all processes
  size_t held = 0;     // that stay on, since the kernel has them on for somebody who runs
  std::vector<std::string> remarks;  // what could not be done
};

// Switches off what nobody else takes back, in these processes, or in all that have mapped the
// file: flags that the environment variable set, or who wrote them and was killed (also who wrote
// them and still runs), flags that the kernel left raised, and code that is still patched though
// its flag is off.
LeftFlags clear_left_flags(const FileIdentity& file, const std::vector<FileSite>& sites,
                           const std::vector<pid_t>& processes);

}  // namespace strata::collect
