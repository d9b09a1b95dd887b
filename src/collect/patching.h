// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "base/result.h"
#include "collect/site_file.h"

namespace strata::collect {

// Rewrites sites of a running process that can be patched, while its threads run them: from nothing
// to a jump to the tracing code, or back. `places` are addresses in that process. Each change is
// one aligned word, seen by another CPU before or after, never in between; a place that holds
// neither of the two is an error and stays.
Status patch(pid_t process, std::span<const uint64_t> places, bool on);

// Whether this user may do that at all, without doing it. (The kernel may still refuse to write to
// code that is mapped read-only.)
Status may_patch(pid_t process);

// Brings such sites in line with their flags, which others may be changing, in a process that has
// their file loaded with this bias: a jump where the flag is set, nothing where it is not.
//
// A site that is patched and whose flag is off costs a jump and a test; one that is not patched and
// whose flag is on is not traced. So this comes after every change of flags, on or off. A process
// that starts with flags set does it by itself.
Status settle(pid_t process, std::span<const FileSite> sites, uint64_t bias);

}  // namespace strata::collect
