// SPDX-License-Identifier: Apache-2.0
#include "record/running_session.h"

namespace strata::record {

RunningSession::Json RunningSession::answer(const Json& question) {
  const auto what = question.find("do");
  const std::string name =
      what != question.end() && what->is_string() ? what->get<std::string>() : "";
  if (name == "status") {
    const SessionStatus status = this->status(Clock::now());
    Json told = {{"events", status.events},
                 {"bytes", status.bytes},
                 {"lost", status.lost},
                 {"fill", status.fill},
                 {"elapsed_ns", status.elapsed.count()}};
    if (status.reach) told["window_ns"] = status.reach->count();
    return told;
  }
  if (name == "snapshot" && request_.flight) {
    const auto folder = question.find("folder");
    const bool named = folder != question.end() && folder->is_string();
    const Result<Snapshot> saved =
        snapshot(named ? folder->get<std::string>() : "", "asked for by name");
    return saved ? to_json(*saved) : Json{{"error", saved.error().text()}};
  }
  if (name == "snapshot")
    return {{"error", "this session is no flight: all it records goes into " + request_.folder}};
  if (name == "change") return change(question);
  if (name == "take" && kernel_) return take_now();
  if (name == "take" && request_.flight)
    return {{"error", "this session is a flight, which writes nothing that could be followed"}};
  if (name == "take")
    return {{"error", "this session records programs alone: follow app-NAME in " + folder_}};
  return {{"error", "this session cannot do '" + name + "'"}};
}

// For who follows the recording.
RunningSession::Json RunningSession::take_now() {
  const std::optional<Ticks> now = clock_->now();
  const KernelSource::Written written = kernel_->take_now();
  Json files = Json::array();
  for (const auto& [cpu, bytes] : written.bytes) files.push_back({{"cpu", cpu}, {"bytes", bytes}});
  Json answer = {{"path", written.path}, {"files", std::move(files)}};
  if (now) answer["until"] = raw(*now);
  return answer;
}

RunningSession::Json RunningSession::change(const Json& question) {
  Result<SessionChange> wanted = parse_change(question);
  if (!wanted) return {{"error", wanted.error().text()}};
  const Result<std::string> done = apply_change(*std::move(wanted));
  if (done) {
    description_.sessions.back().changes.push_back({now_since_epoch().count, *done});
    if (Status status = request_.flight ? Status() : write_description(); !status)
      warn(status.error());
  }
  settle();
  if (!done) return {{"error", done.error().text()}};
  return {{"changed", *done}};
}

// All of it or nothing. Gives what was done, in words.
Result<std::string> RunningSession::apply_change(SessionChange wanted) {
  AppChange probes;
  std::optional<AppSource::Switched> next;
  if (app_) {
    Result<AppChange> taken =
        take_probes(wanted, app_->request(), kernel_events_ ? &*kernel_events_ : nullptr);
    if (!taken) return std::move(taken).error();
    probes = *std::move(taken);
  }
  if (wanted != SessionChange() && !kernel_events_)
    return Error{"", std::nullopt,
                 "this session records programs alone, and these have no such probe"};
  if (!probes.empty()) {
    Result<AppSource::Switched> switched = app_->switch_over(probes);
    if (!switched) return std::move(switched).error();
    next.emplace(*std::move(switched));
  }
  std::string done = text_of(probes);
  if (wanted != SessionChange()) {
    if (Status status = kernel_events_->get_busy(); !status) warn(status.error());
    const Result<std::string> kernel =
        apply(wanted, *tracefs_, *kernel_events_, kernel_ ? folder_ + "/host.dat" : "");
    if (!kernel) return kernel.error();
    done += (done.empty() ? "" : "; ") + *kernel;
  }
  if (next) app_->use(*std::move(next));
  return done;
}

}  // namespace strata::record
