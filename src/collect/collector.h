// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "collect/process_drain.h"
#include "collect/program_trace.h"
#include "collect/rendezvous.h"

namespace strata::collect {

// The rings of a process at one moment.
struct RingsCopy {
  TracedProcess process;
  RingMemory memory;
};

// Where programs ask for rings unless they are told otherwise: the machine's socket for root, else
// the user's.
std::string default_socket();

struct CollectorOptions {
  std::string socket;
  std::string folder;  // for the traces, app-NAME each
  RingLayout layout;   // of every process's rings
  probe::abi::Clock clock = probe::abi::Clock::Tsc;
  ctf::NewClock declared_clock;         // the same, as traces tell it
  uint64_t quota = uint64_t{16} << 30;  // bytes of events a process; the rest counts as lost
  ChosenSites sites;
  SiteFilters filters;    // sites that are not in it are not filtered
  uint32_t contexts = 0;  // what events tell of their threads: a mask of probe::abi's
};

// Brings what programs write to their rings into CTF traces, until it is stopped; of the sites that
// were chosen. Switching them on is somebody else's business. Other collectors, of other sessions,
// may read the same rings at the same time (rendezvous.h).
//
// One thread is for programs and sessions that come. The other empties the rings: every 100 ms, and
// at once when a program wakes it because one is half full. A process that has ended, however, is
// emptied to the last record.
//
// Where rings are overwritten (a flight recorder), nothing is taken out of them: copy() gives what
// they hold, also those of some processes that have ended.
class Collector {
 public:
  static Result<std::unique_ptr<Collector>> start(CollectorOptions options);
  ~Collector();

  // Its threads.
  std::vector<pid_t> threads() const { return threads_; }
  // The traces there are, with what is in them.
  std::vector<ProgramTraces::Told> traces() const;
  // From here on into another folder: what is in the rings still goes into the traces that there
  // are, which are whole then and are what this gives. Nothing is lost between the two, or in both.
  Result<std::vector<ProgramTraces::Told>> continue_in(std::string folder, ctf::NewClock clock);
  // From here on events of these sites, of what programs write after this.
  Status choose(ChosenSites sites);
  ChosenSites sites() const;
  // Of a flight recorder: what all rings hold now.
  Result<std::vector<RingsCopy>> copy() const;
  // The same in numbers.
  struct Held {
    uint64_t bytes = 0;
    uint64_t lost = 0;
    std::optional<uint64_t> begin = {};  // from when on all is there; none: from the start
  };
  Held held() const;
  // Whether it has ended by itself: the disk is full, say. stop() tells why.
  bool failed() const { return failed_; }
  // Takes what the rings hold. Those that no other session reads are closed: their programs attach
  // anew with the next event. The traces are whole then.
  Status stop();

 private:
  explicit Collector(CollectorOptions options);
  void stop_serving();
  void collect();
  void take_arrived();
  Status drain_all();
  Status leave_all();
  bool is_flight() const { return policy_ == probe::abi::Policy::Overwrite; }
  void look_after_readers();
  void set_aside_ended();
  template <typename Visit>
  void each_process(Visit visit) const;
  void sleep();
  void wake();
  void tell();

  const probe::abi::Policy policy_;
  const uint32_t contexts_;
  std::unique_ptr<Rendezvous> programs_;
  FileDescriptor stop_serving_;  // an eventfd
  std::thread server_;
  std::thread collector_;
  std::vector<pid_t> threads_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> failed_ = false;
  // 1: the collecting thread sleeps. Plain, since the kernel looks at it.
  uint32_t asleep_ = 0;

  mutable std::mutex mutex_;  // for the next two
  std::vector<std::unique_ptr<ProcessDrain>> arrived_;
  std::vector<ProgramTraces::Told> told_;

  mutable std::mutex processes_mutex_;  // for the next five; before mutex_, where both are held
  DrainOptions options_;
  // Which there are only the collecting thread changes.
  std::vector<std::unique_ptr<ProcessDrain>> processes_;
  std::deque<std::unique_ptr<ProcessDrain>> ended_;  // of a flight recorder, the newest last
  ProgramTraces traces_;
  Status status_;

  // The collecting thread's own.
  std::chrono::steady_clock::time_point next_flush_;
  std::chrono::steady_clock::time_point next_look_after_readers_;
};

}  // namespace strata::collect
