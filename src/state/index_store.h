// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "state/index.h"
#include "state/pass.h"
#include "trace/summary.h"
#include "trace/trace.h"

namespace strata::state {

// The indexes of some traces, one a machine: a cache. They are in the folder .index of the
// recording that the traces are of, else in $XDG_CACHE_HOME/strata (~/.cache/strata), and may be
// deleted at any time. One that is damaged, or of other traces, or of these before they grew, is
// made anew.
struct IndexedMachine {
  std::string name;
  Index index;
};

// Where they are, and what tells these traces, as they are now, from all others.
struct IndexPlace {
  std::string folder;  // empty: nowhere
  std::string stem;    // of the file names
  uint64_t source = 0;

  std::string path(size_t machine) const;
};
IndexPlace index_place(const std::vector<std::unique_ptr<trace::Trace>>& traces);
// Of one that grows with the recording which begins with this trace (live_index.h). Nowhere, where
// the trace is no part of a recording.
IndexPlace live_index_place(const trace::Trace& trace);

// Opens the indexes, or makes them first. What could not be read of the traces goes to `problems`.
Result<std::vector<IndexedMachine>> open_index(
    const std::vector<std::unique_ptr<trace::Trace>>& traces,
    const trace::ProgressCallback& progress, std::vector<Error>& problems);

}  // namespace strata::state
