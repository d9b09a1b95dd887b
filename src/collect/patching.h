// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "base/result.h"

namespace strata::collect {

// Rewrites sites of a running process that can be patched, while its threads run them: from nothing
// to a jump to the tracing code, or back. `places` are addresses in that process. Each change is
// one aligned word, seen by another CPU before or after, never in between; a place that holds
// neither of the two is an error and stays.
//
// A site that is patched and whose flag is off costs a jump and a test; one that is not patched and
// whose flag is on is not traced. So: flags first when switching on, patches first when switching
// off.
Status patch(pid_t process, std::span<const uint64_t> places, bool on);

}  // namespace strata::collect
