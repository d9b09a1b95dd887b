// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "collect/program_trace.h"
#include "collect/ring_memory.h"
#include "collect/ring_reader.h"
#include "collect/site.h"

namespace strata::collect {

// The rings of one process, and their way into a trace. What is not what the library writes, is of
// a site that the process does not tell of or exceeds its quota goes into the trace as a loss,
// never as an event.
class ProcessDrain {
 public:
  // `lives`: the process, by pidfd_open(). `quota`: bytes of events; beyond, they count as lost.
  ProcessDrain(TracedProcess process, FileDescriptor lives, RingMemory memory,
               probe::abi::Clock clock, uint64_t quota);

  const TracedProcess& process() const { return process_; }
  RingMemory& memory() { return memory_; }

  // When it has ended, or was found not to have the memory any more, nothing more can come: what is
  // in the rings then is all.
  bool has_ended() const;
  // A process that asks for another memory may have executed another program.
  void look_whether_mapped();

  // What came since the last time, of each ring no more than it can hold: a process that never
  // stops does not keep its collector from others. An error is the trace's: a full disk, say.
  Status drain(ProgramTraces& traces);
  // Whether a ring is half full: there is no time to sleep.
  bool is_urgent() const;
  // A word to wait for, until a ring is half full. Null: this program has cried wolf too often.
  const uint32_t* set_alarm();
  void end_alarm();
  // What was drained is in the files.
  Status flush();
  // What comes from here on goes into other streams, and may go into other traces.
  Status end_streams();
  // Nothing more comes: its streams end.
  Status finish(ProgramTraces& traces);

 private:
  struct Ring {
    explicit Ring(const RingLayout& layout, uint32_t ring_number)
        : number(ring_number), reader(layout, ring_number) {}
    uint32_t number;
    RingReader reader;
    ctf::StreamWriter* out = nullptr;
    uint64_t damaged = 0;  // as far as it was told
    bool was_broken = false;
  };
  struct Visitor;

  ctf::StreamWriter* stream_of(Ring& ring);
  const EventForm* form_of(uint32_t id);
  const EventForm* find_form(uint32_t id);
  void put(Ring& ring, const RingRecord& record);
  void lose(Ring& ring, uint64_t events);
  void tell_damage(Ring& ring);
  bool is_in_the_future(uint64_t time);

  TracedProcess process_;
  FileDescriptor lives_;
  RingMemory memory_;
  probe::abi::Clock clock_;
  uint64_t quota_;
  uint64_t written_ = 0;  // bytes of events
  uint64_t now_ = 0;      // the clock, some time ago
  uint32_t false_alarms_ = 0;
  bool is_unmapped_ = false;
  std::vector<std::unique_ptr<Ring>> rings_;  // by number; null: not used yet
  Dictionary dictionary_;
  std::vector<const EventForm*> forms_;  // by id - kFirstId; null: not looked for yet
  ProgramTraces* traces_ = nullptr;      // while it drains
  ProgramTrace* trace_ = nullptr;        // from the first event on
  Status status_;
};

}  // namespace strata::collect
