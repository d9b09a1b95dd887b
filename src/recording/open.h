// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace strata::recording {

// Opens whatever traces are at `path`, by what is there and not by its name: a trace.dat file; a
// folder with CTF traces in it or below. An error where there is none; never an empty list.
Result<std::vector<std::unique_ptr<trace::Trace>>> open_traces(const std::string& path);

// Traces that have come since to a folder that is still being written to. A new part of a known
// trace becomes a part of it.
std::vector<std::unique_ptr<trace::Trace>> open_more(
    const std::string& path, const std::vector<std::unique_ptr<trace::Trace>>& known);

// For who can do with one only.
Result<std::unique_ptr<trace::Trace>> open_trace(const std::string& path);

}  // namespace strata::recording
