// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/number_text.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/time_text.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/terminal.h"
#include "cli/traces.h"
#include "recording/description.h"
#include "recording/open.h"
#include "trace/summary.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using trace::Trace;
using trace::TraceInfo;
using trace::TraceSummary;

constexpr size_t kMostTypes = 20;
constexpr size_t kMostStreams = 64;

// All traces together.
struct Totals {
  uint64_t events = 0;
  uint64_t lost = 0;
  uint64_t lost_unknown = 0;
  std::optional<Trace::Span> span;
  std::map<std::pair<std::string, std::string>, uint64_t> types;  // by system and name

  void add(const TraceSummary& summary) {
    events += summary.events;
    lost += summary.lost;
    lost_unknown += summary.lost_unknown;
    if (summary.span) {
      if (!span) span = summary.span;
      span->begin = std::min(span->begin, summary.span->begin);
      span->end = std::max(span->end, summary.span->end);
    }
    for (const auto& [type, count] : summary.types) types[{type->system, type->name}] += count;
  }
};

// A change that was made to a session while it recorded.
struct SessionChange {
  std::string session;
  recording::Change change;

  auto key() const { return std::tie(change.at_ns, session, change.what); }
  bool operator<(const SessionChange& other) const { return key() < other.key(); }
};

// In order of time. Each chunk of a long recording tells of all that came before its end: told
// once.
std::set<SessionChange> changes_at(const std::vector<std::string>& paths) {
  std::set<SessionChange> changes;
  for (const std::string& path : paths) {
    for (const std::string& folder : recording::recordings_at(path)) {
      const Result<recording::Description> description = recording::read_description(folder);
      if (!description) continue;  // told where its traces are opened
      for (const recording::Session& session : description->sessions)
        for (const recording::Change& change : session.changes)
          changes.insert({session.name, change});
    }
  }
  return changes;
}

Json json_time(const std::optional<Trace::Span>& span, Nanoseconds Trace::Span::*side) {
  return span ? Json((*span.*side).count) : Json(nullptr);
}

Json json_problem(const Error& error) {
  return {{"file", error.file},
          {"offset", error.offset ? Json(*error.offset) : Json(nullptr)},
          {"cause", error.cause}};
}

Json json_trace(const TraceInfo& info, const TraceSummary& summary) {
  Json trace = {{"path", info.path},
                {"kind", info.kind},
                {"machine", info.machine},
                {"kernel", info.kernel},
                {"tracer", info.tracer},
                {"clock", info.clock.name},
                {"time_base", info.since_epoch ? "epoch" : info.clock.name},
                {"cpus", info.cpus},
                {"events", summary.events},
                {"lost", summary.lost},
                {"lost_unknown", summary.lost_unknown},
                {"begin_ns", json_time(summary.span, &Trace::Span::begin)},
                {"end_ns", json_time(summary.span, &Trace::Span::end)}};
  Json& streams = trace["streams"] = Json::array();
  for (const trace::StreamSummary& stream : summary.streams) {
    streams.push_back({{"buffer", stream.buffer},
                       {"cpu", raw(stream.cpu)},
                       {"events", stream.events},
                       {"lost", stream.lost},
                       {"lost_unknown", stream.lost_unknown},
                       {"begin_ns", json_time(stream.span, &Trace::Span::begin)},
                       {"end_ns", json_time(stream.span, &Trace::Span::end)}});
  }
  Json& properties = trace["properties"] = Json::object();
  for (const auto& [name, value] : info.properties) properties[name] = value;
  Json& problems = trace["problems"] = Json::array();
  for (const Error& problem : summary.problems) problems.push_back(json_problem(problem));
  return trace;
}

void put_json(const Traces& traces, const std::vector<TraceSummary>& summaries,
              const Totals& totals, const std::set<SessionChange>& changes, TextBuffer& out) {
  Json json = {{"events", totals.events},
               {"lost", totals.lost},
               {"lost_unknown", totals.lost_unknown},
               {"begin_ns", json_time(totals.span, &Trace::Span::begin)},
               {"end_ns", json_time(totals.span, &Trace::Span::end)},
               {"time_base", trace::time_base(traces.opened)}};
  std::vector<std::pair<uint64_t, std::pair<std::string, std::string>>> types;
  for (const auto& [name, count] : totals.types) types.emplace_back(count, name);
  std::stable_sort(types.begin(), types.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Json& list = json["event_types"] = Json::array();
  for (const auto& [count, name] : types)
    list.push_back({{"name", name.second}, {"system", name.first}, {"count", count}});
  Json& array = json["traces"] = Json::array();
  for (size_t i = 0; i < summaries.size(); ++i)
    array.push_back(json_trace(traces.opened[i]->info(), summaries[i]));
  Json& changed = json["changes"] = Json::array();
  for (const auto& [session, change] : changes)
    changed.push_back({{"session", session}, {"at_ns", change.at_ns}, {"what", change.what}});
  Json& problems = json["problems"] = Json::array();
  for (const Error& problem : traces.problems) problems.push_back(json_problem(problem));
  put_json_object(json, out);
}

std::string time_text(const TraceInfo& info, Nanoseconds time) {
  std::string raw_text =
      info.in_nanoseconds ? raw_time_text(time) : std::to_string(static_cast<uint64_t>(time.count));
  return info.since_epoch ? WallClock(true).text(time) + "  (" + raw_text + ")" : raw_text;
}

std::string losses_text(uint64_t lost, uint64_t unknown) {
  std::string text = grouped(lost);
  if (unknown > 0)
    text += ", and an unknown number " + (unknown == 1 ? "once" : grouped(unknown) + " times");
  return text;
}

std::string clock_text(const TraceInfo& info) {
  std::string text = info.clock.name;
  if (!info.in_nanoseconds) text += ", which is not time";
  if (info.since_epoch) text += ", anchored to the time of day";
  if (!info.clock.across_cpus) text += ", not comparable across CPUs";
  return text;
}

void put_summary(const TraceInfo& info, const TraceSummary& summary, const Style& style,
                 TextBuffer& out) {
  size_t width = 8;
  for (const auto& [name, value] : info.properties) width = std::max(width, name.size());
  auto line = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    out.put("  ");
    out.put(name);
    out.put(width + 2 - name.size(), ' ');
    out.put(value);
    out.put('\n');
  };
  std::error_code ignored;
  const uintmax_t size = std::filesystem::file_size(info.path, ignored);
  out.put(style.heading(info.path) + ": " + info.kind +
          (ignored ? "" : ", " + size_text(static_cast<uint64_t>(size))) + "\n");
  line("machine", info.machine);
  line("kernel", info.kernel);
  line("tracer", info.tracer);
  line("clock", clock_text(info));
  for (const auto& [name, value] : info.properties) line(name, value);
  if (summary.span) {
    line("begin", time_text(info, summary.span->begin));
    line("end", time_text(info, summary.span->end));
    if (info.in_nanoseconds)
      line("duration",
           duration_text(Nanoseconds{summary.span->end.count - summary.span->begin.count}));
  }
  line("events",
       grouped(summary.events) + " on " + grouped(info.cpus) + (info.cpus == 1 ? " CPU" : " CPUs"));
  const std::string lost = losses_text(summary.lost, summary.lost_unknown);
  line("lost", summary.lost + summary.lost_unknown > 0 ? style.alarm(lost) : lost);
  out.put('\n');

  Table streams({"stream", "events", "lost", "unknown losses", "begin", "end"});
  size_t shown = 0;
  for (const trace::StreamSummary& stream : summary.streams) {
    if (stream.events == 0 || shown++ >= kMostStreams) continue;
    auto time = [&](Nanoseconds at) {
      return info.in_nanoseconds ? raw_time_text(at)
                                 : std::to_string(static_cast<uint64_t>(at.count));
    };
    streams.add({(stream.buffer.empty() ? "" : stream.buffer + " ") + "cpu " +
                     std::to_string(raw(stream.cpu)),
                 grouped(stream.events), grouped(stream.lost),
                 stream.lost_unknown > 0 ? grouped(stream.lost_unknown) : "",
                 time(stream.span->begin), time(stream.span->end)});
  }
  if (!streams.empty()) {
    streams.put(style, 2, out);
    if (shown > kMostStreams) out.put("  and " + grouped(shown - kMostStreams) + " more\n");
    out.put('\n');
  }

  Table types({"event", "count", "%"});
  for (size_t i = 0; i < std::min(summary.types.size(), kMostTypes); ++i) {
    const auto& [type, count] = summary.types[i];
    char share[16];
    std::snprintf(share, sizeof share, "%.1f",
                  100 * static_cast<double>(count) / static_cast<double>(summary.events));
    types.add({type->system.empty() ? type->name : type->system + ":" + type->name, grouped(count),
               share});
  }
  if (!types.empty()) {
    types.put(style, 2, out);
    if (summary.types.size() > kMostTypes)
      out.put("  and " + grouped(summary.types.size() - kMostTypes) + " more (--json has all)\n");
  }
}

void put_changes(const std::set<SessionChange>& changes, const Style& style, TextBuffer& out) {
  if (changes.empty()) return;
  Table table({"changed at", "session", "what"});
  table.align_left(1);
  table.align_left(2);
  for (const auto& [session, change] : changes)
    table.add({WallClock(true).text(Nanoseconds{change.at_ns}), session, change.what});
  out.put('\n');
  table.put(style, 0, out);
}

}  // namespace

int run(const InfoArguments& arguments) {
  Traces traces = open_traces(arguments.paths);
  std::vector<TraceSummary> summaries;
  Totals totals;
  int status = traces.problems.empty() ? kExitFine : kExitInput;
  for (const auto& trace : traces.opened) {
    Progress progress("reading " + trace->info().path, false);
    trace::ProgressCallback callback;
    if (progress.enabled())
      callback = [&](uint64_t done, uint64_t total) { progress.update(done, total); };
    summaries.push_back(trace::summarize(*trace, callback));
    totals.add(summaries.back());
  }

  const std::set<SessionChange> changes = changes_at(arguments.paths);
  Output out(STDOUT_FILENO);
  if (arguments.json) {
    put_json(traces, summaries, totals, changes, out.text());
  } else {
    const Style style(STDOUT_FILENO);
    for (size_t i = 0; i < summaries.size(); ++i) {
      if (i > 0) out.text().put('\n');
      put_summary(traces.opened[i]->info(), summaries[i], style, out.text());
    }
    put_changes(changes, style, out.text());
  }
  Status written = out.finish();
  // After what could be read, so that it is the last thing seen.
  for (const TraceSummary& summary : summaries)
    status = std::max(status, tell_problems(summary.problems));
  if (!written) {
    complain(written.error());
    return kExitInput;
  }
  return status;
}

}  // namespace strata::cli
