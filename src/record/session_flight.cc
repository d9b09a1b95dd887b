// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "record/old_snapshots.h"
#include "record/running_session.h"

namespace strata::record {

Status RunningSession::take_off() {
  make_kernel_events();
  flight_.emplace(*kernel_events_, *clock_, request_.flight->way);
  Status status = flight_->start();
  if (status) {
    auto triggers = SnapshotTriggers::open(*tracefs_, kernel_events_->instance().cpus(),
                                           request_.flight->snapshot_on, request_.flight->after);
    if (triggers)
      triggers_.emplace(*std::move(triggers));
    else
      status = std::move(triggers).error();
  }
  if (!status) {
    if (made_folder_) rmdir(request_.folder.c_str());
    return status;
  }
  begin_ = Clock::now();
  for (const Error& refused : kernel_events_->refused()) warn(refused);
  if (flight_->way() != FlightWay::Mapped)
    warn({"", std::nullopt,
          "this kernel's rings cannot be mapped: a snapshot empties them" +
              std::string(flight_->way() == FlightWay::Stopped
                              ? ", and nothing is recorded while it does"
                              : "")});
  description_ = describe(request_, *clock_, begin_ns_);
  clock_->take_anchor();
  if (command_) command_->run();
  if (events_.started) events_.started();
  settle();
  return {};
}

void RunningSession::snapshot_if_due(Clock::time_point now) {
  const auto save = [this](const std::string& cause) {
    if (Result<Snapshot> saved = snapshot("", cause); !saved) warn(saved.error());
  };
  if (signals_.asked_for_snapshot()) save("SIGUSR1");
  if (const std::optional<std::string> cause = triggers_->due(now)) {
    save(*cause);
    triggers_->saved(Clock::now());
  }
}

Result<Snapshot> RunningSession::snapshot(std::string folder, const std::string& cause) {
  // Saving takes a lot of calls.
  if (Status status = kernel_events_->get_busy(); !status) warn(status.error());
  Result<Snapshot> saved = copy_and_save(std::move(folder), cause);
  settle();
  if (!saved) return saved;
  ++report_.snapshots;
  delete_old_snapshots(request_.folder, request_.keep, saved->end_ns);
  if (events_.snapshot) events_.snapshot(*saved);
  return saved;
}

Result<Snapshot> RunningSession::copy_and_save(std::string folder, const std::string& cause) {
  Result<FlightCopy> copy = flight_->copy();
  if (!copy) return std::move(copy).error();
  if (folder.empty()) folder = request_.folder + "/" + snapshot_name(copy->end_ns);
  return save_snapshot(*std::move(copy), *kernel_events_, *clock_, description_,
                       {std::move(folder), cause, request_.state, request_.compressed},
                       [this](const Error& error) { warn(error); });
}

Result<SessionReport> RunningSession::land() {
  report_.last = status(Clock::now());
  report_.left_out = triggers_->left_out();
  triggers_.reset();
  if (Status stopped = flight_->stop(); !stopped) warn(stopped.error());
  signals_.release();
  // Where there was no snapshot there is nothing in it.
  if (made_folder_) rmdir(request_.folder.c_str());
  return report_;
}

}  // namespace strata::record
