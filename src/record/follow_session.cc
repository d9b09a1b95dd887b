// SPDX-License-Identifier: Apache-2.0
#include "record/follow_session.h"

#include <unistd.h>

#include "format/tracedat/trace_dat.h"
#include "record/control.h"
#include "recording/open.h"

namespace strata::record {
namespace {

using Growth = tracedat::LivePages::Growth;
using Json = ControlConnection::Json;

std::optional<Growth> parse_growth(const Json& answer) {
  try {
    Growth growth;
    growth.path = answer.at("path").get<std::string>();
    for (const Json& file : answer.at("files"))
      growth.written[file.at("cpu").get<uint32_t>()] = file.at("bytes").get<uint64_t>();
    if (answer.contains("until")) growth.until = Ticks{answer.at("until").get<uint64_t>()};
    return growth;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

// The head is there some tenths of a second after the first event.
Result<std::unique_ptr<tracedat::TraceDat>> open_head(const std::string& path) {
  for (int attempt = 0;; ++attempt) {
    Result<std::unique_ptr<tracedat::TraceDat>> trace = tracedat::TraceDat::open(path);
    if (trace || attempt == 100) return trace;
    usleep(50'000);
  }
}

}  // namespace

Result<std::unique_ptr<trace::Trace>> follow_session(const SessionEntry& session,
                                                     tracedat::LivePages::From from) {
  Result<ControlConnection> opened = ControlConnection::open(session.control);
  if (!opened) return std::move(opened).error();
  const auto connection = std::make_shared<ControlConnection>(*std::move(opened));
  const Result<Json> first = connection->ask({{"do", "take"}});
  if (!first) return first.error();
  const std::optional<Growth> growth = parse_growth(*first);
  if (!growth) return Error{session.control, std::nullopt, "gives an answer that means nothing"};
  Result<std::unique_ptr<tracedat::TraceDat>> trace = open_head(growth->path);
  if (!trace) return std::move(trace).error();
  (*trace)->follow_by(std::make_unique<tracedat::LivePages>(
      [connection]() -> std::optional<Growth> {
        const Result<Json> answer = connection->ask({{"do", "take"}});
        return answer ? parse_growth(*answer) : std::nullopt;
      },
      from));
  return std::unique_ptr<trace::Trace>(*std::move(trace));
}

Result<FollowedRecording> follow_recording(const SessionEntry& session) {
  Result<std::unique_ptr<trace::Trace>> live =
      follow_session(session, tracedat::LivePages::From::Beginning);
  if (!live) return std::move(live).error();
  FollowedRecording all;
  // What else is there: the state at the beginning.
  const auto same = [&](const auto& trace) { return trace->info().path == (*live)->info().path; };
  if (auto others = recording::open_traces(session.folder)) {
    std::erase_if(*others, same);
    all.traces = *std::move(others);
  }
  all.growing = all.traces.size();
  all.traces.push_back(*std::move(live));
  return all;
}

}  // namespace strata::record
