// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "format/ctf/new_uuid.h"
#include "trace/trace.h"

namespace strata::recording {

struct ToCtfOptions {
  bool overwrite = false;  // an older CTF trace in the folder goes
  bool index = false;      // write index files too, as LTTng does
  // The machine's identity (LTTng: its boot id): traces of one machine share it, those of a guest
  // have their own. Not told: made from the machine's name.
  std::optional<ctf::Uuid> machine = {};
};

// What came of it, for whoever wants to tell.
struct ToCtfCounts {
  uint64_t events = 0;
  uint64_t lost = 0;
  uint64_t lost_unknown = 0;  // places
  uint64_t moved = 0;         // times that ran backwards; see StreamWriter::moved()
};

using ToCtfProgress = std::function<void(uint64_t bytes_done, uint64_t bytes_total)>;

// Writes a trace of the kernel's own tracer as the CTF trace that LTTng would have recorded: its
// names of events and fields, a stream for each CPU, a trace that Trace Compass and Babeltrace take
// for a kernel's. Every event has its thread (tid) and what else the kernel's tracer tells of each
// as context. Losses are told, in numbers where they are known and as a lost packet where not.
//
// A fork tells parent and child as threads and as processes, as LTTng does. Names that a system
// call is given are strings, of the address where the name was.
//
// At the start of the first stream stand lttng_statedump_* events with the names of threads that
// the trace tells apart from its events. Which process a thread belongs to is not told there: each
// stands as one of its own, its state as unknown.
//
// The folder appears when the trace is whole. What could not be read from `trace`, or could not be
// said in CTF, is an error in the end; the rest is there all the same.
Status to_ctf(const trace::Trace& trace, const std::string& folder,
              const ToCtfOptions& options = {}, const ToCtfProgress& progress = {},
              ToCtfCounts* counts = nullptr);

}  // namespace strata::recording
