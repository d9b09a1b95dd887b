// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "format/tracedat/writer.h"
#include "trace/trace.h"

namespace strata::recording {

// Writes any trace's events as trace.dat of version 7, which stock trace-cmd opens:
// each event type with a format file made of its fields (tracedat_event.h), times in nanoseconds on
// the trace's own clock with the distance to the epoch told apart, every event under the thread
// that was running where that is known (-1 where not). Event types whose tracer tells no system are
// in "ctf". Losses stay marked where they happened.
//
// Streams of one CPU become one, in the order of time. The trace is read twice: what comes first in
// the file, the threads' names and the size of pages, depends on all events.
//
// What could not be read from `trace`, or be said in trace.dat, is an error in the end; the rest is
// there all the same.
Status to_tracedat(const trace::Trace& trace, const std::string& path,
                   tracedat::WriteOptions options,
                   const std::function<void(uint64_t, uint64_t)>& progress = {});

}  // namespace strata::recording
