// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/tracedat/live_pages.h"
#include "record/registry.h"
#include "trace/trace.h"

namespace strata::record {

// The kernel's events of a running session as a trace that grows: its streams, followed, end with
// the session. Not for a flight recorder, which writes nothing.
Result<std::unique_ptr<trace::Trace>> follow_session(const SessionEntry& session,
                                                     tracedat::LivePages::From from);

// All traces of the recording that a session makes.
struct FollowedRecording {
  std::vector<std::unique_ptr<trace::Trace>> traces;
  size_t growing = 0;  // the kernel's, which is followed from its beginning
};
Result<FollowedRecording> follow_recording(const SessionEntry& session);

}  // namespace strata::record
