// SPDX-License-Identifier: Apache-2.0
#include "top/recordings.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

#include "record/control.h"
#include "top/own_folder.h"

namespace strata::top {
namespace {

using Json = record::ControlConnection::Json;

std::string session_name(const char* what) { return fmt::format("top-{}-{}", getpid(), what); }

}  // namespace

Recordings::~Recordings() {
  if (!flight_) return;
  const std::string folder = flight_->folder();
  flight_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

Result<std::string> Recordings::toggle() {
  if (is_ending_) return std::string("the recording is being finished");
  if (recorder_) {
    recorder_->end();
    is_ending_ = true;
    return "finishing " + recorder_->folder();
  }
  const std::string folder =
      fmt::format("strata-{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
  Result<Recorder> started = Recorder::start(session_name("all"), folder, {});
  if (!started) return std::move(started).error();
  recorder_.emplace(*std::move(started));
  return "recording into " + folder + "; 'r' ends that";
}

Status Recordings::fly() {
  Result<std::string> folder = own_folder("flight");
  if (!folder) return std::move(folder).error();
  Result<Recorder> started = Recorder::start(session_name("flight"), *folder, {"--flight"});
  if (!started) return std::move(started).error();
  flight_.emplace(*std::move(started));
  return {};
}

Result<std::string> Recordings::save_flight(const std::string& folder) {
  const std::optional<record::SessionEntry> session = flight_ ? flight_->session() : std::nullopt;
  if (!session) return Error{folder, std::nullopt, "the flight recorder does not record (yet)"};
  Result<record::ControlConnection> connection = record::ControlConnection::open(session->control);
  if (!connection) return std::move(connection).error();
  const std::string path = std::filesystem::absolute(folder).lexically_normal().string();
  const Result<Json> answer = connection->ask({{"do", "snapshot"}, {"folder", path}});
  if (!answer) return answer.error();
  return "the events in " + folder;
}

std::optional<Result<std::string>> Recordings::news() {
  if (flight_) {
    if (Status alive = flight_->alive(); !alive) {
      flight_.reset();
      return Result<std::string>(std::move(alive).error());
    }
  }
  if (!recorder_) return std::nullopt;
  const Status alive = recorder_->alive();
  if (alive && !recorder_->has_ended()) return std::nullopt;
  const std::string folder = recorder_->folder();
  recorder_.reset();
  is_ending_ = false;
  if (!alive) return Result<std::string>(alive.error());
  return Result<std::string>("recorded into " + folder);
}

uint64_t Recordings::take_cost_ns() {
  std::chrono::nanoseconds cost{};
  if (recorder_) cost += recorder_->cpu_time();
  if (flight_) cost += flight_->cpu_time();
  const std::chrono::nanoseconds more = cost - std::exchange(told_cost_, cost);
  return more.count() > 0 ? static_cast<uint64_t>(more.count()) : 0;
}

}  // namespace strata::top
