// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "trace/trace.h"

namespace strata::recording {

struct RewriteOptions {
  bool compressed = true;  // where the format can be
  std::function<void(uint64_t done, uint64_t total)> progress;
};

// The events from `begin` to `end`, both included, in the trace's own format: trace.dat becomes a
// file, CTF a folder.
Status trim(const trace::Trace& trace, Nanoseconds begin, Nanoseconds end, const std::string& path,
            const RewriteOptions& options);

// The same trace as trace.dat of version 7: page by page where it is one already, event by event
// where not (to_tracedat.h).
Status convert_to_tracedat(const trace::Trace& trace, const std::string& path,
                           const RewriteOptions& options);

}  // namespace strata::recording
