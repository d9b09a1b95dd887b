// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/tracedat/writer.h"
#include "kernel/dynamic_probes.h"
#include "kernel/instance.h"
#include "kernel/ring_stats.h"
#include "kernel/tracefs.h"
#include "record/host_clock.h"

namespace strata::record {

// What of the kernel is wanted.
struct KernelRequest {
  std::string session;
  std::vector<kernel::EventChoice> events;
  uint64_t buffer_bytes = 0;          // a CPU; 0: chosen from the machine's memory
  std::vector<pid_t> processes = {};  // empty: all
  std::vector<kernel::ProbeSpec> probes = {};
  std::vector<std::string> presets = {};
};

// What is to be different while events are recorded.
struct KernelChange {
  std::vector<kernel::EventChoice> enable = {};  // those that are already take the new filter
  std::vector<kernel::EventChoice> disable = {};
  std::optional<std::vector<pid_t>> processes = {};  // none in it: all
};

// What a session has in the kernel: an instance of the tracer with its rings, its events and
// probes. Where the rings' pages go is somebody else's business.
class KernelEvents {
 public:
  // `clock` goes on gathering anchors meanwhile; what it knows when it is asked counts.
  KernelEvents(kernel::Tracefs tracefs, KernelRequest request, const HostClock& clock);

  // Makes the rings. Nothing is recorded yet.
  Status prepare();
  // From here on events are recorded, of `own_threads` their switches alone.
  Status start(std::vector<pid_t> own_threads);
  // From start() on, and from get_busy(), the recorder's threads may make any calls and are left
  // out at a cost to all; from settle() on they merely move pages. See own_threads.h.
  Status get_busy();
  Status settle();
  // No more events; the rings can still be read.
  Status stop();
  // After stop(): events are recorded again.
  Status go_on();
  // When they have been read: nothing is left in the kernel.
  Status remove();

  // Those that are recorded now, with their filters.
  std::vector<kernel::EventChoice> enabled() const;
  // All of it or, where the kernel refuses something, nothing. A head that is written before has to
  // explain the events already: see explain().
  Status change(const KernelChange& wanted);
  // From here on write_head() explains these events too.
  void explain(const std::vector<kernel::EventChoice>& events);

  const kernel::Instance& instance() const { return *instance_; }
  const HostClock& clock() const { return clock_; }
  // Of one CPU's ring.
  uint64_t buffer_bytes() const { return buffer_bytes_; }
  // Where nobody said how large they are to be: rings that were nearly full, or too small, become
  // larger, while events come and without losing one. What they are told is how they are doing.
  void fit_rings(double fill, uint64_t lost);
  // How one is doing, in the order of the instance's CPUs.
  kernel::RingStats stats(size_t ring) const { return kernel::parse_ring_stats(stats_text(ring)); }
  // How the rings are doing.
  struct Rings {
    kernel::RingStats together;
    double fill = 0;  // of the fullest one, from 0 to 1
  };
  Rings rings() const;
  // Events that the kernel did not let us enable, and what was left out of probes; the rest is
  // recorded.
  const std::vector<Error>& refused() const { return refused_; }

  // All that explains the rings' pages, as a trace.dat without any. Reading it takes a while: to be
  // called when events are recorded already.
  Status write_head(const std::string& path) const;
  // What a trace.dat says of the machine, the clock and, after remove(), of losses.
  std::vector<tracedat::NewOption> options() const;

 private:
  Status add_probes();
  Status filter_busy_systems(const std::string& filter);
  Status use_list();
  Status change_events(const KernelChange& wanted, std::vector<kernel::EventChoice>& before,
                       std::vector<kernel::EventChoice>& added);
  std::string stats_text(size_t ring) const;

  kernel::Tracefs tracefs_;
  KernelRequest request_;  // its events are all that were ever enabled
  const HostClock& clock_;
  std::optional<kernel::Instance> instance_;
  std::optional<kernel::DynamicProbes> probes_;  // gone before the instance is
  uint64_t buffer_bytes_ = 0;
  uint64_t lost_ = 0;                        // when the rings had their present size
  std::vector<FileDescriptor> stats_files_;  // a ring's each
  std::vector<pid_t> own_threads_;
  bool uses_filters_ = false;  // to leave them out, rather than the kernel's list
  bool is_settled_ = false;
  std::vector<Error> refused_;
  std::vector<std::string> final_stats_;
  uint64_t trace_id_;
};

// For each CPU: what loses nothing at ten times overload, and less where that would be much of the
// machine's memory. And what it may become.
uint64_t default_buffer_bytes(size_t cpus);
uint64_t largest_buffer_bytes(size_t cpus);

}  // namespace strata::record
