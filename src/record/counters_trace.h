// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/ctf/writer.h"
#include "kernel/counter_names.h"
#include "kernel/perf_records.h"
#include "trace/event_type.h"

namespace strata::record {

struct CountersTraceOptions {
  std::vector<trace::EventType> read_at;  // the kernel's own declarations, in the group's order
  std::vector<kernel::Counter> counters;
  std::vector<uint32_t> cpus;
  int64_t epoch_ns = 0;  // the epoch's time when CLOCK_MONOTONIC_RAW was 0
  std::string host;      // its name, kernel and boot, for whoever finds the trace alone
  std::string kernel;
  ctf::Uuid boot_id{};
};

// Readings of performance counters as a CTF trace: a stream for each CPU, an event type for each
// tracepoint at which they are read.
//
//     counters_sched_switch  prev_tid next_tid  cache_misses instructions ...
//     counters_sys_exit      id ret             cache_misses instructions ...
//
// Every event has its thread as context (tid), then the integers of the tracepoint (of a switch,
// only who it is between), then the counters as they stood: counts since the recording began of all
// that this CPU did. The difference between two readings of a CPU is what happened between them.
//
// Of the switches of a CPU each begins with whom the one before it ended with. Where that is not so
// the kernel left out at least one, without counting it (seen on Linux 6.18: threads of which perf
// never tells a switch away from them). These are told as losses with the packet they are in.
//
// It is a trace at every moment, up to the last packet that was written. Each CPU may be written by
// a thread of its own.
class CountersTrace {
 public:
  // Makes the folder.
  static Result<CountersTrace> create(const std::string& folder,
                                      const CountersTraceOptions& options);

  // `cpu` counts within CountersTraceOptions::cpus. A sample that cannot be one of the tracepoints'
  // is told as a loss.
  bool write(size_t cpu, const kernel::CounterSample& sample);
  bool discard(size_t cpu, uint64_t samples);
  bool discard_unknown(size_t cpu);

  // Why writing failed, if it did.
  const Status& status(size_t cpu) const { return streams_[cpu].out->status(); }
  uint64_t events(size_t cpu) const { return streams_[cpu].out->events(); }
  uint64_t discarded(size_t cpu) const {
    return streams_[cpu].out->discarded() + streams_[cpu].gaps;
  }
  // Of its events, without what packets add.
  uint64_t bytes(size_t cpu) const { return streams_[cpu].bytes; }

  Status flush();
  Status finish();

 private:
  struct Piece {  // of a tracepoint's record
    uint32_t offset;
    uint32_t size;
  };
  struct Type {
    uint16_t number = 0;  // the tracepoint's
    std::string name;
    ctf::EventId id{};
    std::vector<Piece> pieces;  // the thread first
    size_t record_size = 0;     // the least that has them all
    size_t size = 0;            // of the event
    bool is_switch = false;     // then its pieces are: who runs, from whom, to whom
  };

  struct Stream {
    ctf::StreamWriter* out;
    uint64_t bytes = 0;
    std::optional<int32_t> running = {};  // whom the last switch was to
    uint64_t gaps = 0;                    // between switches, not told yet
  };

  explicit CountersTrace(ctf::Writer writer) : writer_(std::move(writer)) {}
  Status declare(const CountersTraceOptions& options);
  Status declare_type(ctf::StreamClassId stream, const trace::EventType& tracepoint,
                      const std::vector<kernel::Counter>& counters);
  const Type* type_of(Bytes record) const;
  void tell_gaps();

  ctf::Writer writer_;
  std::vector<Stream> streams_;
  std::vector<Type> types_;
  size_t tracepoints_ = 0;
  size_t counters_ = 0;
};

}  // namespace strata::record
