// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/dump_events.h"
#include "cli/dump_with_state.h"
#include "cli/period.h"
#include "cli/terminal.h"
#include "cli/traces.h"
#include "trace/selection.h"

namespace strata::cli {
namespace {

// What does not depend on the traces. False: wrong usage, which was told.
bool make_selection(const DumpArguments& arguments, trace::Selection& selection) {
  for (const EventOrFilter& condition : arguments.conditions) {
    if (!condition.is_filter) {
      selection.wanted.push_back({trace::EventPattern(condition.text), {}});
      continue;
    }
    Result<trace::Filter> filter = trace::Filter::parse(condition.text);
    if (!filter) {
      complain_at("-F", condition.text, filter.error());
      return false;
    }
    auto& filters = selection.wanted.empty() ? selection.filters : selection.wanted.back().filters;
    filters.push_back(*std::move(filter));
  }
  if (!arguments.cpus.empty()) {
    auto cpus = trace::parse_cpu_list(arguments.cpus);
    if (!cpus) {
      complain("--cpu: " + cpus.error().text());
      return false;
    }
    selection.cpus = *cpus;
  }
  for (int32_t tid : arguments.tids) selection.tids.push_back(Tid(tid));
  return true;
}

// What is most likely misspelt: it would quietly give nothing.
void warn_of_unknown_names(const DumpArguments& arguments, const Traces& traces,
                           const trace::Selection& selection) {
  std::vector<const trace::EventType*> types;
  for (const auto& trace : traces.opened)
    for (const trace::EventType* type : trace->event_types()) types.push_back(type);
  auto any_has = [&](const std::string& field) {
    return std::any_of(types.begin(), types.end(),
                       [&](const trace::EventType* type) { return type->find(field); });
  };
  auto check = [&](const std::vector<trace::Filter>& filters) {
    for (const trace::Filter& filter : filters)
      for (const std::string& field : filter.unknown_fields(types))
        warn("-F: no event has a field '" + field + "'");
  };
  check(selection.filters);
  for (const auto& wanted : selection.wanted) check(wanted.filters);
  for (const std::string& field : arguments.fields)
    if (!any_has(field)) warn("--fields: no event has a field '" + field + "'");
  size_t next = 0;
  for (const EventOrFilter& condition : arguments.conditions) {
    if (condition.is_filter) continue;
    const trace::EventPattern& pattern = selection.wanted[next++].pattern;
    if (std::none_of(types.begin(), types.end(),
                     [&](auto* type) { return pattern.matches(*type); }))
      warn("-e: no event type matches '" + condition.text + "'");
  }
}

std::vector<StatePart> state_parts(const DumpArguments& arguments) {
  std::vector<StatePart> parts;
  for (const std::string& name : arguments.with)
    parts.push_back(name == "proc"   ? StatePart::Process
                    : name == "mode" ? StatePart::Mode
                                     : StatePart::Vm);
  return parts;
}

TimeStyle time_style(const DumpArguments& arguments, const Traces& traces) {
  if (arguments.time) return *arguments.time;
  return traces.opened.size() > 1 && traces.since_epoch() ? TimeStyle::Wall : TimeStyle::Raw;
}

}  // namespace

int run(const DumpArguments& arguments) {
  if (!arguments.with.empty() && (arguments.follow || arguments.style == LineStyle::Babeltrace)) {
    complain("--with: not with --follow or --style babeltrace");
    return kExitUsage;
  }
  trace::Selection selection;
  if (!make_selection(arguments, selection)) return kExitUsage;

  using From = tracedat::LivePages::From;
  Traces traces = arguments.follow
                      ? open_or_await_traces(arguments.paths,
                                             arguments.begin.empty() ? From::Now : From::Beginning)
                      : open_traces(arguments.paths);
  int status = traces.problems.empty() ? kExitFine : kExitInput;
  if (traces.opened.empty() && !(arguments.follow && traces.can_grow())) return status;
  if (!resolve_period(arguments.begin, arguments.end, traces, selection.begin, selection.end))
    return kExitUsage;

  DumpWishes wishes{arguments.json ? LineStyle::Json : arguments.style,
                    time_style(arguments, traces), arguments.fields, arguments.limit,
                    arguments.follow};
  if (wishes.time == TimeStyle::Wall && !traces.opened.empty() && !traces.since_epoch()) {
    complain("--time wall: this trace does not tell the time of day");
    return kExitUsage;
  }
  if (trace::time_base(traces.opened) == "mixed")
    warn("the traces are on different clocks: their order on one timeline means nothing");
  if (!traces.opened.empty()) warn_of_unknown_names(arguments, traces, selection);

  Result<Output> out = arguments.output.empty() ? Result<Output>(Output(STDOUT_FILENO))
                                                : Output::create(arguments.output);
  if (!out) {
    complain(out.error());
    return kExitInput;
  }
  const bool on_terminal = arguments.output.empty() && isatty(STDOUT_FILENO) == 1;
  std::vector<Error> problems =
      arguments.with.empty()
          ? dump_events(traces, selection, wishes, on_terminal, *out)
          : dump_with_state(traces, selection, wishes, state_parts(arguments), on_terminal, *out);
  Status written = out->finish();
  for (const auto& trace : traces.opened)
    status = std::max(status, tell_problems(trace->problems()));
  status = std::max(status, tell_problems(problems));
  if (!written) {
    complain(written.error());
    return kExitInput;
  }
  return status;
}

}  // namespace strata::cli
