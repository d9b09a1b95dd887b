// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/output.h"
#include "base/time_text.h"
#include "cli/arguments.h"
#include "cli/traces.h"
#include "trace/selection.h"

namespace strata::cli {

struct DumpWishes {
  LineStyle style = LineStyle::Report;
  TimeStyle time = TimeStyle::Raw;
  std::vector<std::string> fields;
  std::optional<uint64_t> limit;
  bool follow = false;
};

// Writes the selected events of all traces, merged, to `out`; gives what could not be read on the
// way. A reader of `out` that goes away ends it. Where it follows, traces that come are added.
std::vector<Error> dump_events(Traces& traces, trace::Selection& selection,
                               const DumpWishes& wishes, bool on_terminal, Output& out);

}  // namespace strata::cli
