// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace strata::record {

// From here on a thread (0: the one that calls) gives way to everything else on the machine, its
// processors and its disks.
void give_way(pid_t thread);
// And no longer.
void be_ordinary(pid_t thread);

}  // namespace strata::record
