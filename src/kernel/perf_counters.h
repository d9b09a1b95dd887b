// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "kernel/counter_names.h"
#include "kernel/perf_records.h"

namespace strata::kernel {

// What one CPU's counters are to be, and when they are to be read.
struct CounterGroupOptions {
  uint32_t cpu = 0;
  // Tracepoints, by their number: the kernel reads all counters at each. At least one.
  std::vector<uint32_t> read_at;
  std::vector<Counter> counters;
  size_t ring_size = size_t{4} << 20;  // a power of two, at least a page
};

// One CPU's performance counters, read by the kernel itself at each occurrence of a tracepoint into
// a ring that we map: a perf group in which the tracepoints come first and the counters follow. All
// that the CPU does counts, whoever it does it for; the readings are stamped with
// CLOCK_MONOTONIC_RAW (perf has no TSC).
//
// The group is pinned: it counts all the time or not at all. Perf's other way, to take turns where
// the PMU has too few counters, would leave out readings, since the tracepoints take turns too.
//
// When nobody holds it open any more, nothing of it is left in the kernel. The last one to let go
// of a tracepoint waits until no CPU is in it: tens of milliseconds, but seconds on a machine with
// many more runnable threads than CPUs. It costs nothing from disable() on.
class CounterGroup {
 public:
  static Result<CounterGroup> open(const CounterGroupOptions& options);
  CounterGroup(CounterGroup&& other) noexcept;
  CounterGroup& operator=(CounterGroup&&) noexcept = delete;
  ~CounterGroup();

  uint32_t cpu() const { return cpu_; }
  // The samples' values: first how often each tracepoint was met, then the counters.
  size_t tracepoints() const { return tracepoints_; }
  size_t counters() const { return events_.size() - tracepoints_; }

  // No readings at this tracepoint while one of these threads runs. Nothing else is left out: their
  // share of the counters is the CPU's too.
  Status leave_out(size_t tracepoint, const std::vector<pid_t>& threads);

  Status enable();
  Status disable();
  // How often the tracepoints were met since enable(), so how many samples there would have been.
  Result<uint64_t> occurrences() const;

  // Becomes readable when the ring is half full.
  int descriptor() const { return events_[0].get(); }
  // What is in the ring. Its bytes are the kernel's again after release().
  PerfRecords pending();
  void release();

 private:
  CounterGroup() = default;
  Status open_events(const CounterGroupOptions& options);
  Status map_ring(size_t ring_size);
  std::string name() const { return "the counters of CPU " + std::to_string(cpu_); }

  uint32_t cpu_ = 0;
  size_t tracepoints_ = 0;
  std::vector<FileDescriptor> events_;  // the leader first
  void* mapping_ = nullptr;             // perf's own page, then the ring
  size_t mapped_ = 0;
  Bytes ring_;
  uint64_t tail_ = 0;  // up to where the ring was read
  uint64_t head_ = 0;  // up to where pending() gave it out
};

}  // namespace strata::kernel
