// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "kernel/instance.h"
#include "kernel/probe_spec.h"
#include "kernel/trigger_spec.h"
#include "record/app_choice.h"
#include "record/chunks.h"
#include "record/flight.h"
#include "record/machine_source.h"
#include "record/snapshot.h"
#include "record/source.h"

namespace strata::record {

// A session that keeps what came last in the kernel's rings, and writes only what it is asked for:
// a folder for each snapshot, within the session's or elsewhere.
struct FlightRequest {
  std::vector<kernel::TriggerSpec> snapshot_on;
  std::chrono::nanoseconds after{};   // goes on for so long when one of these has happened
  std::optional<FlightWay> way = {};  // this one or none, for tests
};

// A session that somebody else takes the pages of, while it records.
struct ForwardRequest {
  // Where a CPU's pages go instead of a file beside the head: a pipe or a socket.
  std::function<Result<kernel::PageFile>(uint32_t cpu)> pages;
  // Threads, not of this process, that hand them on: they are left out as the session's own are.
  std::vector<pid_t> threads;
  // The session ends when this descriptor is at its end: who holds the other one has asked for it,
  // or is gone.
  int until = -1;
};

// What a session is asked to do.
struct SessionRequest {
  std::string name;    // see is_session_name()
  std::string folder;  // is made; must not hold anything yet
  std::vector<kernel::EventChoice> events;
  std::string clock;          // of the kernel's tracer; empty: the best there is
  uint64_t buffer_bytes = 0;  // a CPU; 0: chosen
  std::chrono::milliseconds sync{5000};
  std::vector<pid_t> processes;  // empty: all
  std::vector<kernel::ProbeSpec> probes;
  std::vector<std::string> presets;   // probes with a name
  std::vector<std::string> counters;  // performance counters, by perf's names
  std::vector<std::string> read_at;   // events at which they are read; empty: switches
  AppRequest app;                     // probes of programs
  bool state = true;                  // the state in which the recording starts
  bool compressed = true;
  bool compressed_live = false;  // while it records, besides; chunks are so anyway
  Keep keep;                     // limited: in chunks, see Chunks; of a flight: its snapshots
  std::optional<std::chrono::nanoseconds> duration;
  std::vector<std::string> command;  // recorded until it ends; empty: until a signal or `duration`
  std::vector<std::string> asked;    // the command line, to be told in the recording
  std::optional<FlightRequest> flight;
  std::optional<ForwardRequest> forward;  // stays unfinished; in one folder, and no flight
  std::vector<MachineSource*> machines;   // that are recorded along; in one folder, and no flight

  // Whether anything is asked of the kernel's tracer. Programs alone need no rights for it.
  bool wants_kernel() const {
    return app.empty() || !events.empty() || !probes.empty() || !presets.empty() ||
           !counters.empty() || (flight && !flight->snapshot_on.empty());
  }
};

// A machine that is recorded along.
struct MachineStatus : SourceStatus {
  std::string name;
  std::string ended;  // why nothing more comes of it; empty: it records
};

struct SessionStatus : SourceStatus {
  std::chrono::nanoseconds elapsed{};
  std::optional<std::chrono::nanoseconds> reach = {};  // of a flight: how far back its rings reach
  std::vector<MachineStatus> machines = {};
};

// What was not known before a session began.
struct SessionStart {
  std::string clock;       // that stamps the kernel's events, as trace_clock calls it
  uint64_t reading = 0;    // of it, before the first event; 0: only the kernel can read it
  uint32_t page_size = 0;  // of the kernel's rings; 0: programs alone are recorded
};

// What is told while a session runs. All may be empty.
struct SessionEvents {
  std::function<void(const SessionStart&)> started;  // events are being recorded
  std::function<void()> explained;                   // and all is written that explains them
  std::function<void(const SessionStatus&)> status;  // once a second
  std::function<void(const Error&)> warning;
  std::function<void(const Snapshot&)> snapshot;  // one was saved
  std::function<void(uint64_t done, uint64_t total)> finishing;
};

struct SessionReport {
  SessionStatus last;
  uint64_t size = 0;                  // of the finished recording, in bytes
  std::optional<int> command_status;  // as wait() gives it
  uint64_t snapshots = 0;
  uint64_t left_out = 0;  // triggers that came too soon after another
  bool finished = true;   // false: left in the unfinished form, which opens
};

// Records until the command ends, the time is over or SIGINT, SIGTERM or SIGHUP comes; then
// finishes the recording. Another signal meanwhile leaves it unfinished. No other thread may run
// yet.
//
// Whatever happens, nothing of it stays in the kernel: see Instance and Watcher.
Result<SessionReport> record(const SessionRequest& request, const SessionEvents& events);

// Instances and probes of sessions whose recorder was killed, and its watcher with it.
void clean_up_after_the_dead(const kernel::Tracefs& tracefs);

}  // namespace strata::record
