// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "format/tracedat/live_pages.h"
#include "record/registry.h"
#include "trace/trace.h"

namespace strata::record {

// The kernel's events of a running session as a trace that grows: its streams, followed, end with
// the session. Not for a flight recorder, which writes nothing.
Result<std::unique_ptr<trace::Trace>> follow_session(const SessionEntry& session,
                                                     tracedat::LivePages::From from);

}  // namespace strata::record
