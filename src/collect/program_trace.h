// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/ring_reader.h"
#include "collect/site.h"
#include "collect/traced_process.h"
#include "format/ctf/writer.h"

namespace strata::collect {

// How the events of a site lie in a trace.
struct EventForm {
  ctf::EventId id{};
  bool is_span = false;
  bool is_fixed = false;  // else it has strings or sequences, and tells whether they were cut
  uint32_t size = 0;      // of such a record's payload, where it is fixed
};

struct TraceTotals {
  uint64_t events = 0;
  uint64_t bytes = 0;  // of events, without what packets add
  uint64_t lost = 0;
  uint64_t lost_unknown = 0;  // times that nobody knows how many
};

// What the processes of one program tell, as a CTF trace: a stream for each ring of a process that
// was written to. Event types are called "provider:name" and have the fields that were declared;
// besides,
//
//     spans        begin (on the trace's clock), duration_ns; the event's own time is the span's
//     end with strings or sequences   truncated: 1 where one was longer
//
// Events tell the contexts that were asked for, as LTTng calls them: vtid, procname, cpu_id, and
// perf_thread_cpu_cycles, _instructions, _cache_misses, _branch_misses.
// Packets tell the process: pid and procname. Losses are in their events_discarded.
//
// Fields lie in an event as in the record: whoever writes copies them.
class ProgramTrace {
 public:
  struct Options {
    std::string folder;  // is made
    std::string program;
    ctf::NewClock clock;
    size_t types = 0;       // how many there will be, about
    uint32_t contexts = 0;  // a mask, as records have it
  };
  static Result<ProgramTrace> create(const Options& options);

  // Null: it cannot be told, for want of room for further types.
  const EventForm* form_of(const Site& site);
  Result<ctf::StreamWriter*> add_stream(const TracedProcess& process, uint32_t ring);
  Status finish() { return writer_.finish(); }

  // What each event has before its fields.
  size_t context_size() const { return context_size_; }
  // Gives where the fields go. Of what the record does not tell: no thread, no name, CPU 0,
  // probe::abi::kNoCount.
  std::byte* put_contexts(std::byte* at, Bytes record_contexts) const;

  TraceTotals totals;  // kept by who writes

 private:
  ProgramTrace(ctf::Writer writer, ctf::StreamClassId stream, const Options& options);

  ctf::Writer writer_;
  ctf::StreamClassId stream_;
  uint32_t contexts_;
  size_t context_size_;
  // By their declarations: processes of one program may have loaded different libraries.
  std::map<std::string, EventForm> forms_;
  std::map<std::string, uint32_t> streams_;  // how many had the name
};

// The traces of a recording: one for each program, whatever the number of its processes.
class ProgramTraces {
 public:
  ProgramTraces(std::string folder, ctf::NewClock clock, uint32_t contexts = 0)
      : folder_(std::move(folder)), clock_(std::move(clock)), contexts_(contexts) {}

  double nanoseconds_a_tick() const { return 1e9 / static_cast<double>(clock_.frequency); }

  // Makes it where there is none yet, as FOLDER/app-NAME.
  Result<ProgramTrace*> of(const std::string& program, size_t types);

  struct Told {
    std::string folder;  // within that of the recording
    TraceTotals totals;
  };
  std::vector<Told> told() const;
  Status finish();

 private:
  struct Named {
    std::string folder;
    ProgramTrace trace;
  };
  std::string folder_;
  ctf::NewClock clock_;
  uint32_t contexts_;
  std::map<std::string, std::unique_ptr<Named>> traces_;  // by program
};

}  // namespace strata::collect
