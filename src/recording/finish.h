// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "format/tracedat/finish.h"

namespace strata::recording {

struct FinishOptions {
  bool compressed = true;
  std::function<void(uint64_t done, uint64_t total)> progress = {};
  // What whoever recorded it knows beyond what is in the folder, of the host's trace.dat.
  tracedat::Ending ending = {};
};

// What came of it.
struct Finished {
  uint64_t parts = 0;    // that were made whole now
  uint64_t already = 0;  // that were so before
};

// Finishes what a killed recorder left: makes every part of the recording in `folder` whole and
// says so in recording.json. Chunks of a long recording are finished one by one; one that cannot be
// does not keep the others from it, and the first such error is given. Nothing may still be
// recording there.
Result<Finished> finish_recording(const std::string& folder, const FinishOptions& options);

}  // namespace strata::recording
