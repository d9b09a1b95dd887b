// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "format/ctf/ctf_trace.h"

namespace strata::ctf {

// Writes the events from `begin` to `end`, both included, as a trace in `folder`, which must not
// hold anything yet. The metadata go along as they are, and so do packets that lie in that time;
// those at its edges are cut: what stays is moved up to the packet's context, whose sizes and times
// are set anew.
Status trim(const CtfTrace& trace, Nanoseconds begin, Nanoseconds end, const std::string& folder,
            const std::function<void(uint64_t done, uint64_t total)>& progress = {});

}  // namespace strata::ctf
