// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "period/table.h"

namespace strata::live {

// What is watched for one group of columns in the running kernel: programs that count where things
// happen, and the memory that they count in, which is mapped. It is watched as long as this lives;
// the kernel takes all of it back when the process ends, however it ends.
class Watch {
 public:
  virtual ~Watch() = default;

  // Puts into the machine what has happened since it was told last. Times are of CLOCK_MONOTONIC,
  // as in the kernel's programs: `end` is now. Reads memory, and makes no system call.
  virtual void tell(int64_t begin, int64_t end, period::Machine& machine) = 0;

  // CPU time that its programs took in the kernel since the last call, in those who were watched.
  virtual uint64_t take_cost_ns() = 0;
};

}  // namespace strata::live
