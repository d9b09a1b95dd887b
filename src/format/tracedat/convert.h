// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/units.h"
#include "format/tracedat/trace_dat.h"
#include "format/tracedat/writer.h"

namespace strata::tracedat {

// Told now and then how far the work is.
using Progress = std::function<void(uint64_t bytes_done, uint64_t bytes_total)>;

// What `trace` holds besides its events, ready to be written again. Views into `trace`.
Head head_of(const TraceDat& trace);

// The same trace as version 7, page by page as they are.
Status convert(const TraceDat& trace, const std::string& path, WriteOptions options,
               const Progress& progress = {});

// The events from `begin` to `end`, both included, and all that explains them. Losses inside that
// time stay marked.
Status trim(const TraceDat& trace, Nanoseconds begin, Nanoseconds end, const std::string& path,
            WriteOptions options, const Progress& progress = {});

}  // namespace strata::tracedat
