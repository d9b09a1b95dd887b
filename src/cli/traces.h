// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time_text.h"
#include "format/tracedat/live_pages.h"
#include "trace/trace.h"

namespace strata::cli {

// The traces that a command was given. One that cannot be opened does not stop the others.
struct Traces {
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<trace::Trace>> opened;
  std::vector<Error> problems;  // of those that could not be; already told

  // The earliest and latest time of all; nothing where there are no events.
  std::optional<trace::Trace::Span> span() const;
  // Whether all of them tell the time of day.
  bool since_epoch() const;
  // What times in words are said against.
  TimeFrame time_frame() const;
  // Whether there may come more, files or whole traces.
  bool can_grow() const;
};

Traces open_traces(const std::vector<std::string>& paths);
// For who follows them: a folder that holds no trace may get one, and is waited for. What is the
// name or the folder of a running session is that session, from `from` on.
Traces open_or_await_traces(const std::vector<std::string>& paths, tracedat::LivePages::From from);
// The running session of this name or folder: all traces of its recording, of which `growing` is
// the kernel's, followed from its beginning.
Traces follow_recording(const std::string& path, size_t& growing);

// Tells what could not be read; gives the exit status.
int tell_problems(const std::vector<Error>& problems);

}  // namespace strata::cli
