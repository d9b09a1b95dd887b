// SPDX-License-Identifier: Apache-2.0
#include "cli/ask.h"

#include <unistd.h>

#include <algorithm>

#include "base/output.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace strata::cli {

int ask(const std::vector<std::string>& paths,
        const std::function<bool(const Traces&, state::Pass&)>& prepare,
        const std::function<void(const state::Pass&, TextBuffer&)>& put) {
  const Traces traces = open_traces(paths);
  int status = traces.problems.empty() ? kExitFine : kExitInput;
  if (traces.opened.empty()) return status;
  state::Pass pass(traces.opened);
  if (!prepare(traces, pass)) return kExitUsage;
  Progress progress("reading", false);
  if (progress.enabled() && !pass.at_period)
    pass.progress = [&](uint64_t done, uint64_t total) { progress.update(done, total); };
  pass.run();

  Output out(STDOUT_FILENO);
  put(pass, out.text());
  const Status written = out.finish();
  for (const auto& trace : traces.opened)
    status = std::max(status, tell_problems(trace->problems()));
  status = std::max(status, tell_problems(pass.problems()));
  if (!written) {
    complain(written.error());
    return kExitInput;
  }
  return status;
}

}  // namespace strata::cli
