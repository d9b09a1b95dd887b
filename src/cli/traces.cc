// SPDX-License-Identifier: Apache-2.0
#include "cli/traces.h"

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "recording/open.h"

namespace strata::cli {

namespace {

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

Traces open_paths(const std::vector<std::string>& paths, bool await) {
  Traces traces;
  traces.paths = paths;
  for (const std::string& path : paths) {
    Result<std::vector<std::unique_ptr<trace::Trace>>> found = recording::open_traces(path);
    if (found) {
      for (const auto& trace : *found) {
        if (!trace->info().warning.empty()) warn(trace->info().path + ": " + trace->info().warning);
      }
      std::ranges::move(*found, std::back_inserter(traces.opened));
    } else if (await && is_folder(path)) {
      warn(path + ": waiting for a trace: " + found.error().cause);
    } else {
      complain(found.error());
      traces.problems.push_back(std::move(found).error());
    }
  }
  return traces;
}

}  // namespace

Traces open_traces(const std::vector<std::string>& paths) { return open_paths(paths, false); }

Traces open_or_await_traces(const std::vector<std::string>& paths) {
  return open_paths(paths, true);
}

std::optional<trace::Trace::Span> Traces::span() const {
  std::optional<trace::Trace::Span> all;
  for (const auto& trace : opened) {
    if (const std::optional<trace::Trace::Span> span = trace->time_span())
      trace::Trace::widen(all, *span);
  }
  return all;
}

bool Traces::since_epoch() const {
  return !opened.empty() && std::all_of(opened.begin(), opened.end(), [](const auto& trace) {
    return trace->info().since_epoch;
  });
}

std::string Traces::time_base() const {
  std::string base;
  for (const auto& trace : opened) {
    const trace::TraceInfo& info = trace->info();
    const std::string own = info.since_epoch ? "epoch" : info.clock.name;
    if (!base.empty() && base != own) return "mixed";
    base = own;
  }
  return base;
}

bool Traces::can_grow() const { return std::ranges::any_of(paths, is_folder); }

int tell_problems(const std::vector<Error>& problems) {
  for (const Error& problem : problems) complain(problem);
  return problems.empty() ? kExitFine : kExitInput;
}

}  // namespace strata::cli
