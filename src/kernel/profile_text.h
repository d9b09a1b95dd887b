// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/profiles.h"

namespace strata::kernel {

// Reads a file of profiles; docs/profiles.md describes the format:
//
//     # Switches and disks, without what says nothing.
//     [mine]
//     description = what the database waits for
//     include = irq
//     events = sched:* !sched:sched_stat_runtime block:*
//     events = syscalls:*|raw_syscalls:*
//
// A profile can include those of `known` and those above it, so that none includes itself. Places
// in Profile::includes count on from `known`. Errors tell `path`, line and column.
Result<std::vector<Profile>> parse_profiles(std::string_view text,
                                            const std::vector<Profile>& known,
                                            const std::string& path);

}  // namespace strata::kernel
