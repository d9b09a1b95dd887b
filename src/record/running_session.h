// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time_text.h"
#include "record/app_source.h"
#include "record/chunks.h"
#include "record/command.h"
#include "record/control.h"
#include "record/counters_source.h"
#include "record/flight.h"
#include "record/kernel_source.h"
#include "record/live_compression.h"
#include "record/registry.h"
#include "record/session.h"
#include "record/session_change.h"
#include "record/signals.h"
#include "record/snapshot_triggers.h"
#include "record/throttling_source.h"
#include "record/watcher.h"

namespace strata::record {

// One session, from its first step to its last: see record(). The order of the members is that in
// which they must come; they go the other way.
//
// What all sessions do is in running_session.cc, how they answer who asks them in
// session_control.cc, what those in chunks do besides in session_chunks.cc, those with other
// machines in session_machines.cc, and what flights do in session_flight.cc.
class RunningSession {
 public:
  using Clock = std::chrono::steady_clock;
  using Json = ControlSocket::Json;

  RunningSession(const SessionRequest& request, const SessionEvents& events)
      : request_(request), events_(events) {}

  // All that must be there before the first event: what fails leaves nothing behind.
  Status prepare();
  Status start();
  // What explains the events, read while they are already recorded.
  Status explain();
  // Until there is a reason to stop.
  void wait();
  void stop();
  Result<SessionReport> finish();

  // For a flight, in place of start(), explain(), stop() and finish().
  Status take_off();
  Result<SessionReport> land();

 private:
  void tell_start() const;
  Status add_counters();
  Status find_tracefs();
  Status start_app();
  Status start_kernel();
  void remove_folder();
  void make_kernel_events();
  void add_state();
  void add_throttling();
  void sample_throttling();
  void settle();
  bool is_over(Clock::time_point now);
  void tick(Clock::time_point now);
  void tell_new_programs();
  SessionStatus status(Clock::time_point now);
  void gather_parts();
  Status write_description();
  void tell_clocks();
  void call_machines();
  void await_machines();
  void look_at_machines();
  void warn(const Error& error) const {
    if (events_.warning) events_.warning(error);
  }

  Json answer(const Json& question);
  Json change(const Json& question);
  Result<std::string> apply_change(SessionChange wanted);
  Json take_now();

  Status add_folder();
  uint64_t recorded_bytes();
  void tend_chunks(Clock::time_point now);
  Status next_chunk();
  Status continue_programs_in(const std::string& folder);
  EndedChunk end_chunk(std::vector<kernel::PageFile> pages);

  Status start_flight();
  SessionStatus flight_status(Clock::time_point now) const;
  void snapshot_if_due(Clock::time_point now);
  Result<Snapshot> snapshot(std::string folder, const std::string& cause);
  Result<FlightCopy> copy_rings();
  Result<Snapshot> copy_and_save(std::string folder, const std::string& cause);

  const SessionRequest& request_;
  const SessionEvents& events_;
  const int64_t begin_ns_ = now_since_epoch().count;
  Signals signals_;
  std::optional<kernel::Tracefs> tracefs_;  // none: programs alone are recorded
  std::optional<Registration> registration_;
  std::optional<ControlSocket> control_;
  std::optional<Watcher> watcher_;
  std::optional<Command> command_;
  std::optional<HostClock> clock_;
  std::unique_ptr<CountersSource> counters_;
  std::unique_ptr<AppSource> app_;
  std::optional<KernelEvents> kernel_events_;   // where there is tracefs_, as what follows
  std::optional<KernelSource> kernel_;          // or a flight
  std::optional<ThrottlingSource> throttling_;  // not of a flight
  std::optional<LiveCompression> compression_;
  std::vector<tracedat::PackedPages> packed_;
  std::optional<Flight> flight_;  // the kernel's part of one
  std::optional<SnapshotTriggers> triggers_;
  bool is_forsaken_ = false;  // see ForwardRequest::until
  bool made_folder_ = false;
  std::string folder_;  // of the recording: the one that was asked for, or a chunk in it
  std::optional<Chunks> chunks_;
  Clock::time_point chunk_begin_;
  uint64_t bytes_before_chunk_ = 0;
  Clock::time_point begin_;
  Clock::time_point next_anchor_;
  Clock::time_point next_sync_;
  Clock::time_point next_tick_;
  Clock::time_point next_tending_ = Clock::time_point::max();
  recording::Description description_;
  std::vector<recording::Part> other_parts_;
  std::optional<std::vector<recording::Part>> complete_programs_;  // of a chunk that just ends
  size_t told_programs_ = 0;                                       // of which recording.json tells
  std::vector<recording::Machine> told_machines_;
  std::vector<recording::Part> told_machine_parts_;
  SessionReport report_;
};

// Whose session it is, by name.
std::string user_name();
// What is known of a recording when it begins.
recording::Description describe(const SessionRequest& request, const HostClock& clock,
                                int64_t begin_ns);
// The instance and the probes of a user's session. Whether nothing is left.
bool remove_from_kernel(const kernel::Tracefs& tracefs, const std::string& name, uid_t user);

}  // namespace strata::record
