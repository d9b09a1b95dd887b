// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/event_types.h"
#include "cli/json_output.h"
#include "cli/kernel_events.h"
#include "cli/terminal.h"
#include "cli/traces.h"
#include "trace/selection.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using trace::EventType;

std::vector<const EventType*> chosen_types(const trace::Trace& trace,
                                           const std::vector<trace::EventPattern>& patterns) {
  std::vector<const EventType*> types;
  for (const EventType* type : trace.event_types()) {
    if (patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                        [&](const auto& p) { return p.matches(*type); }))
      types.push_back(type);
  }
  std::sort(types.begin(), types.end(), [](const EventType* a, const EventType* b) {
    return std::tie(a->system, a->name, a->id) < std::tie(b->system, b->name, b->id);
  });
  return types;
}

// Grouped, it is the names that one looks for.
TypeStyle style_of(const EventsArguments& arguments) {
  TypeStyle how{TypeDetail::Fields, arguments.by_family};
  if (arguments.by_family && arguments.patterns.empty()) how.detail = TypeDetail::Names;
  if (arguments.verbose) how.detail = TypeDetail::Fields;
  if (arguments.format) how.detail = TypeDetail::Declaration;
  return how;
}

int trace_events(const EventsArguments& arguments) {
  std::vector<trace::EventPattern> patterns;
  for (const std::string& pattern : arguments.patterns) patterns.emplace_back(pattern);

  Traces traces = open_traces(arguments.paths);
  int status = traces.problems.empty() ? kExitFine : kExitInput;
  const TypeStyle how = style_of(arguments);
  const Style style(STDOUT_FILENO);
  Output out(STDOUT_FILENO);
  Json json = {{"traces", Json::array()}};
  size_t found = 0;
  for (const auto& trace : traces.opened) {
    const std::vector<const EventType*> types = chosen_types(*trace, patterns);
    if (arguments.json) {
      json["traces"].push_back(
          {{"path", trace->info().path}, {"event_types", json_types(types, how)}});
    } else {
      if (found > 0) out.text().put('\n');
      if (traces.opened.size() > 1) out.text().put(trace->info().path + ":\n\n");
      put_types(types, how, style, out);
    }
    found += types.size();
  }
  if (arguments.json) put_json_object(json, out.text());
  Status written = out.finish();
  for (const auto& trace : traces.opened)
    status = std::max(status, tell_problems(trace->problems()));
  if (found == 0 && !patterns.empty() && !traces.opened.empty()) {
    complain("no event type matches");
    status = kExitInput;
  }
  if (!written) {
    complain(written.error());
    return kExitInput;
  }
  return status;
}

}  // namespace

int run(const EventsArguments& arguments) {
  return arguments.paths.empty() ? kernel_events(arguments) : trace_events(arguments);
}

}  // namespace strata::cli
