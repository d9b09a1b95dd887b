// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "base/new_folder.h"
#include "base/progress.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/rewrite.h"
#include "cli/terminal.h"
#include "cli/traces.h"

namespace strata::cli {
namespace {

// The period that was asked for. Nothing: wrong usage, which was told.
std::optional<trace::Trace::Span> wanted_period(const TrimArguments& arguments,
                                                const Traces& traces) {
  trace::Trace::Span period = traces.span().value_or(trace::Trace::Span{});
  const TimeFrame frame{period.begin, period.end, traces.since_epoch(), now_since_epoch()};
  for (auto [option, text, side, out] :
       {std::tuple("--begin", &arguments.begin, Side::Begin, &period.begin),
        std::tuple("--end", &arguments.end, Side::End, &period.end)}) {
    if (text->empty()) continue;
    Result<Nanoseconds> time = resolve_time(*text, frame, side);
    if (!time) {
      complain(std::string(option) + ": " + time.error().text());
      return std::nullopt;
    }
    *out = *time;
  }
  if (period.end < period.begin) {
    complain("--end is before --begin");
    return std::nullopt;
  }
  return period;
}

}  // namespace

int run(const TrimArguments& arguments) {
  const Traces traces = open_traces({arguments.path});
  if (traces.opened.empty()) return kExitInput;
  const bool several = traces.opened.size() > 1;
  const bool to_folder = std::filesystem::is_directory(arguments.path);
  if (!to_folder && !is_writable_target(arguments.output)) return kExitInput;
  const std::optional<trace::Trace::Span> period = wanted_period(arguments, traces);
  if (!period) return kExitUsage;

  // Several are one: an interruption leaves none of them.
  std::optional<NewFolder> all;
  if (several) {
    Result<NewFolder> folder = NewFolder::create(arguments.output);
    if (!folder) {
      complain(folder.error());
      return kExitInput;
    }
    all.emplace(*std::move(folder));
  }

  int status = kExitFine;
  for (const auto& trace : traces.opened) {
    // Several traces below one folder lie below the new one as they do below the old.
    std::filesystem::path output = arguments.output;
    if (several) output /= std::filesystem::relative(trace->info().path, arguments.path);
    Progress progress("trimming " + trace->info().path, false);
    Status trimmed = recording::trim(*trace, period->begin, period->end, output.string(),
                                     rewrite_options(arguments.packing, progress));
    if (!trimmed) {
      complain(trimmed.error());
      status = kExitInput;
      continue;
    }
    status = std::max(status, finish_rewrite(*trace, output.string(), arguments.json));
  }
  std::error_code ignored;
  if (all && !std::filesystem::is_empty(arguments.output, ignored)) all->keep();
  return status;
}

}  // namespace strata::cli
