// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace strata::record {

// "tid,comm,cpu,cycles,...": what events of programs tell of their threads, as a mask.
Result<uint32_t> parse_contexts(const std::vector<std::string>& names);

// Whether programs of this machine can read the counters that the mask names without a system call,
// as their events would: what stands in the way, where not. (A program of a user who may not open
// counters is told nothing; its events say so.)
Status check_thread_counters(uint32_t contexts);

}  // namespace strata::record
