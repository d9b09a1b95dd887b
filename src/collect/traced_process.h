// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace strata::collect {

// Who writes to a ring.
struct TracedProcess {
  pid_t pid = 0;
  std::string name = {};     // of its main thread when it attached
  std::string program = {};  // the file that it runs; empty: not known

  // What /proc tells of one that runs.
  static TracedProcess look_at(pid_t pid);
};

}  // namespace strata::collect
