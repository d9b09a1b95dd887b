// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/number_text.h"
#include "base/output.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/terminal.h"
#include "cli/traces.h"
#include "clock/trace_sync.h"
#include "recording/synced.h"

namespace strata::cli {
namespace {

using clock::Stretch;
using Json = nlohmann::ordered_json;

recording::MachineTraces machine_at(const Traces& traces) {
  recording::MachineTraces found{traces.paths.front(), {}};
  for (const auto& trace : traces.opened)
    if (found.machine.empty()) found.machine = trace->info().machine;
  if (found.machine.empty()) found.machine = std::filesystem::path(found.path).filename();
  return found;
}

int64_t clamped_ns(uint64_t bound) {
  return static_cast<int64_t>(std::min<uint64_t>(bound, INT64_MAX));
}

Json json_of(const SyncArguments& arguments, const clock::TraceSync& sync) {
  Json json = {{"path", arguments.path},
               {"reference", arguments.reference},
               {"by", sync.by == clock::TraceSync::By::TcpSegments ? "tcp" : "guest"},
               {"matches", sync.matches}};
  Json& lines = json["lines"] = Json::array();
  for (const Stretch& stretch : sync.stretches)
    lines.push_back({{"begin_ns", stretch.begin},
                     {"end_ns", stretch.end},
                     {"matches", stretch.pairs},
                     {"slope", static_cast<double>(1 + stretch.line.steeper)},
                     {"offset_ns", static_cast<double>(stretch.at_zero())},
                     {"bound_ns", stretch.bound}});
  return json;
}

// As many digits as a double of it would have.
std::string line_text(const Stretch& stretch) {
  char text[128];
  std::snprintf(text, sizeof text, "%.16Lf x t %c %.2Lf ns", 1 + stretch.line.steeper,
                stretch.at_zero() < 0 ? '-' : '+',
                stretch.at_zero() < 0 ? -stretch.at_zero() : stretch.at_zero());
  return text;
}

void put(const Traces& traces, const clock::TraceSync& sync, const Style& style, TextBuffer& out) {
  out.put(grouped(sync.matches) + (sync.by == clock::TraceSync::By::TcpSegments
                                       ? " TCP segments that both saw\n\n"
                                       : " entries and exits around what the guest did\n\n"));
  const bool wall = traces.since_epoch();
  WallClock clock(true);
  const auto time = [&](int64_t ns) {
    return wall ? clock.text(Nanoseconds{ns}) : raw_time_text(Nanoseconds{ns});
  };
  Table table({"from", "to", "matches", "the reference's time", "+-"});
  for (const Stretch& stretch : sync.stretches)
    table.add({time(stretch.begin), time(stretch.end), grouped(stretch.pairs), line_text(stretch),
               duration_text(Nanoseconds{clamped_ns(stretch.bound)})});
  table.put(style, 0, out);
}

}  // namespace

int run(const SyncArguments& arguments) {
  const Traces traces = open_traces({arguments.path});
  const Traces reference = open_traces({arguments.reference});
  if (traces.opened.empty() || reference.opened.empty()) return kExitInput;
  std::vector<Error> problems;
  for (const Traces* all : {&traces, &reference})
    for (const auto& trace : all->opened)
      problems.insert(problems.end(), trace->problems().begin(), trace->problems().end());
  const Result<clock::TraceSync> sync =
      clock::sync_traces(traces.opened, reference.opened, problems);
  int status = tell_problems(problems);
  if (!sync) {
    complain(sync.error());
    return kExitInput;
  }
  if (!arguments.output.empty()) {
    const Status written =
        recording::write_synced(arguments.output, machine_at(traces), machine_at(reference),
                                clock::map_of(sync->stretches));
    if (!written) {
      complain(written.error());
      return kExitInput;
    }
  }
  Output out(STDOUT_FILENO);
  if (arguments.json)
    put_json_object(json_of(arguments, *sync), out.text());
  else
    put(traces, *sync, Style(STDOUT_FILENO), out.text());
  if (Status written = out.finish(); !written) {
    complain(written.error());
    status = kExitInput;
  }
  return status;
}

}  // namespace strata::cli
