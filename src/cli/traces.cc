// SPDX-License-Identifier: Apache-2.0
#include "cli/traces.h"

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "record/follow_session.h"
#include "recording/open.h"

namespace strata::cli {

namespace {

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

void open_path(const std::string& path, bool await, Traces& traces) {
  traces.paths.push_back(path);
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

// That is called so, unless there is such a file, or records into this folder.
std::optional<record::SessionEntry> running_session(const std::string& name_or_folder) {
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(name_or_folder, ignored);
  const std::string path = std::filesystem::weakly_canonical(name_or_folder, ignored).string();
  for (record::SessionEntry& session : record::list_sessions()) {
    if (session.is_alive && (is_file ? session.folder == path : session.name == name_or_folder))
      return std::move(session);
  }
  return std::nullopt;
}

}  // namespace

Traces open_traces(const std::vector<std::string>& paths) {
  Traces traces;
  for (const std::string& path : paths) open_path(path, false, traces);
  return traces;
}

Traces open_or_await_traces(const std::vector<std::string>& paths, tracedat::LivePages::From from) {
  Traces traces;
  for (const std::string& path : paths) {
    const std::optional<record::SessionEntry> session = running_session(path);
    if (!session) {
      open_path(path, true, traces);
      continue;
    }
    Result<std::unique_ptr<trace::Trace>> trace = record::follow_session(*session, from);
    if (trace) {
      traces.opened.push_back(*std::move(trace));
    } else {
      complain(trace.error());
      traces.problems.push_back(std::move(trace).error());
    }
  }
  return traces;
}

Traces follow_recording(const std::string& path, size_t& growing) {
  Traces traces;
  const std::optional<record::SessionEntry> session = running_session(path);
  if (!session) {
    complain(path + ": is no running session");
    return traces;
  }
  Result<record::FollowedRecording> followed = record::follow_recording(*session);
  if (!followed) {
    complain(followed.error());
    return traces;
  }
  traces.opened = std::move(followed->traces);
  growing = followed->growing;
  return traces;
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

TimeFrame Traces::time_frame() const {
  const trace::Trace::Span all = span().value_or(trace::Trace::Span{});
  return {all.begin, all.end, since_epoch(), now_since_epoch()};
}

bool Traces::can_grow() const { return std::ranges::any_of(paths, is_folder); }

int tell_problems(const std::vector<Error>& problems) {
  for (const Error& problem : problems) complain(problem);
  return problems.empty() ? kExitFine : kExitInput;
}

}  // namespace strata::cli
