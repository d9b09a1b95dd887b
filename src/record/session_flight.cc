// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "record/old_snapshots.h"
#include "record/running_session.h"

namespace strata::record {

Status RunningSession::take_off() {
  Status started = start_app();
  if (started && tracefs_) started = start_flight();
  if (!started) {
    app_.reset();
    if (made_folder_) rmdir(request_.folder.c_str());
    return started;
  }
  begin_ = Clock::now();
  description_ = describe(request_, *clock_, begin_ns_);
  clock_->take_anchor();
  if (command_) command_->run();
  tell_start();
  settle();
  return {};
}

Status RunningSession::start_flight() {
  make_kernel_events();
  flight_.emplace(*kernel_events_, *clock_, request_.flight->way);
  if (Status status = flight_->start(app_ ? app_->threads() : std::vector<pid_t>()); !status)
    return status;
  auto triggers = SnapshotTriggers::open(*tracefs_, kernel_events_->instance().cpus(),
                                         request_.flight->snapshot_on, request_.flight->after);
  if (!triggers) return std::move(triggers).error();
  triggers_.emplace(*std::move(triggers));
  for (const Error& refused : kernel_events_->refused()) warn(refused);
  if (flight_->way() != FlightWay::Mapped)
    warn({"", std::nullopt,
          "this kernel's rings cannot be mapped: a snapshot empties them" +
              std::string(flight_->way() == FlightWay::Stopped
                              ? ", and nothing is recorded while it does"
                              : "")});
  return {};
}

// What is kept of all that was recorded.
SessionStatus RunningSession::flight_status(Clock::time_point now) const {
  SessionStatus status{{}, now - begin_};
  if (flight_) {
    status += flight_->status();
    status.reach = flight_->reach();
  }
  if (!app_) return status;
  status += app_->status();
  // A program may have written any time there.
  const int64_t end = std::max(now_since_epoch().count, begin_ns_);
  const int64_t begin = std::clamp(app_->begin_ns().value_or(begin_ns_), begin_ns_, end);
  const auto reach = std::chrono::nanoseconds(end - begin);
  status.reach = std::min(status.reach.value_or(reach), reach);
  return status;
}

void RunningSession::snapshot_if_due(Clock::time_point now) {
  const auto save = [this](const std::string& cause) {
    if (Result<Snapshot> saved = snapshot("", cause); !saved) warn(saved.error());
  };
  if (signals_.asked_for_snapshot()) save("SIGUSR1");
  if (!triggers_) return;
  if (const std::optional<std::string> cause = triggers_->due(now)) {
    save(*cause);
    triggers_->saved(Clock::now());
  }
}

Result<Snapshot> RunningSession::snapshot(std::string folder, const std::string& cause) {
  // Saving takes a lot of calls.
  if (kernel_events_) {
    if (Status status = kernel_events_->get_busy(); !status) warn(status.error());
  }
  Result<Snapshot> saved = copy_and_save(std::move(folder), cause);
  settle();
  if (!saved) return saved;
  ++report_.snapshots;
  delete_old_snapshots(request_.folder, request_.keep, saved->end_ns);
  if (events_.snapshot) events_.snapshot(*saved);
  return saved;
}

Result<FlightCopy> RunningSession::copy_rings() {
  FlightCopy copy;
  if (flight_) {
    Result<FlightCopy> kernel = flight_->copy();
    if (!kernel) return kernel;
    copy = *std::move(kernel);
  } else {
    clock_->take_anchor();
    copy.begin_ns = begin_ns_;
    copy.end_ns = now_since_epoch().count;
  }
  if (!app_) return copy;
  const Clock::time_point begin = Clock::now();
  Result<AppSource::Copies> programs = app_->copy();
  if (!programs) return std::move(programs).error();
  copy.programs = *std::move(programs);
  copy.took += Clock::now() - begin;
  // A program may have written any time there.
  if (const std::optional<int64_t> from = app_->begin_ns(copy.programs))
    copy.begin_ns = std::clamp(*from, copy.begin_ns, std::max(copy.begin_ns, copy.end_ns));
  return copy;
}

Result<Snapshot> RunningSession::copy_and_save(std::string folder, const std::string& cause) {
  Result<FlightCopy> copy = copy_rings();
  if (!copy) return std::move(copy).error();
  if (folder.empty()) folder = request_.folder + "/" + snapshot_name(copy->end_ns);
  const SnapshotSources sources{kernel_events_ ? &*kernel_events_ : nullptr, app_.get()};
  return save_snapshot(
      *std::move(copy), sources, *clock_, description_,
      {std::move(folder), cause, request_.state && kernel_events_, request_.compressed},
      [this](const Error& error) { warn(error); });
}

Result<SessionReport> RunningSession::land() {
  report_.last = status(Clock::now());
  if (triggers_) report_.left_out = triggers_->left_out();
  triggers_.reset();
  if (flight_) {
    if (Status stopped = flight_->stop(); !stopped) warn(stopped.error());
  }
  if (app_) {
    if (Status stopped = app_->stop(); !stopped) warn(stopped.error());
  }
  signals_.release();
  // Where there was no snapshot there is nothing in it.
  if (made_folder_) rmdir(request_.folder.c_str());
  return report_;
}

}  // namespace strata::record
