// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace strata::recording {

// Opens whatever traces are at `path`, by what is there and not by its name: a trace.dat file; a
// recording (a folder with a recording.json), or a folder of recordings, the chunks of a long one;
// a folder with CTF traces in it or below. An error where there is none. An empty list only for a
// recording that has just begun.
Result<std::vector<std::unique_ptr<trace::Trace>>> open_traces(const std::string& path);

// Traces that have come since to a folder that is still being written to. A new part of a known
// trace becomes a part of it.
std::vector<std::unique_ptr<trace::Trace>> open_more(
    const std::string& path, const std::vector<std::unique_ptr<trace::Trace>>& known);

// The recordings at `folder`: itself, or those in it, in order; none where it is something else. A
// name that begins with a dot is that of one that is being deleted.
std::vector<std::string> recordings_at(const std::string& folder);

// For who can do with one only.
Result<std::unique_ptr<trace::Trace>> open_trace(const std::string& path);

}  // namespace strata::recording
