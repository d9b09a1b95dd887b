// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "collect/chosen_sites.h"
#include "collect/drain_filter.h"
#include "collect/program_trace.h"
#include "collect/reader_slot.h"
#include "collect/ring_memory.h"
#include "collect/ring_reader.h"
#include "collect/site.h"

namespace strata::collect {

// A process whose rings this session reads.
struct SharedRings {
  TracedProcess process;
  FileDescriptor lives;  // the process, by pidfd_open()
  std::shared_ptr<RingMemory> memory;
  ReaderSlot slot;
  Begin begin;
};

// How they are brought into a trace.
struct DrainOptions {
  probe::abi::Clock clock = probe::abi::Clock::Tsc;
  uint64_t quota = uint64_t{16} << 30;  // bytes of events a process; the rest counts as lost
  ChosenSites sites = {};
  SiteFilters filters = {};  // sites that are not in it are not filtered
  bool has_ended = false;    // long ago: its times are taken for what they are
};

// The rings of one process, and their way into a trace. What is not what the library writes, is of
// a site that the process does not tell of or exceeds its quota goes into the trace as a loss,
// never as an event. What other sessions have chosen is passed over. Losses are the process's,
// whatever the site; they are left out only where it has no site that was chosen.
class ProcessDrain {
 public:
  // The options are to outlive it.
  ProcessDrain(SharedRings rings, const DrainOptions& options);

  const TracedProcess& process() const { return process_; }
  const RingMemory& memory() const { return *memory_; }

  // When it has ended, or was found not to have the memory any more, nothing more can come: what is
  // in the rings then is all.
  bool has_ended() const;
  // A process that asks for another memory may have executed another program.
  void look_whether_mapped();

  // Filters are set, and the process has not told of any site yet: it runs unfiltered.
  // A library asks for its rings only to write; one that does not is not awaited for ever.
  bool awaits_sites() const {
    return filter_.is_active() && dictionary_.size() == 0 && drained_ < kLongestAwaited;
  }

  // What came since the last time, of each ring no more than it can hold: a process that never
  // stops does not keep its collector from others. An error is the trace's: a full disk, say.
  Status drain(ProgramTraces& traces);
  // Whether a ring is half full of what this session has not taken: there is no time to sleep.
  bool is_urgent() const;
  // A word to wait for, until a ring is half full. Null: this program has cried wolf too often.
  const uint32_t* set_alarm();
  void end_alarm();
  // To be done now and then: readers that were killed hold up the program no longer, and where it
  // looks at filters, for others, it is told what this session has not chosen.
  void look_after_readers();
  // What was drained is in the files.
  Status flush();
  // What comes from here on goes into other streams, and may go into other traces.
  Status end_streams();
  // The options say other sites from here on.
  void choose_again();
  // This session takes no more than what it has drained. Where no other reads the rings, they are
  // closed, and finish() finds what came until then. True: so it is.
  bool leave();
  // Nothing more comes: its streams end.
  Status finish(ProgramTraces& traces);

 private:
  struct Ring {
    Ring(const RingLayout& layout, uint32_t ring_number)
        : number(ring_number), reader(layout, ring_number) {}
    uint32_t number;
    RingReader reader;
    ctf::StreamWriter* out = nullptr;
    uint64_t damaged = 0;  // as far as it was told
    bool was_broken = false;
  };
  struct Visitor;

  Ring& open_ring(uint32_t number);
  bool is_half_full() const;  // for the program: behind what all have taken
  bool has_chosen_sites();
  bool open_trace();
  ctf::StreamWriter* stream_of(Ring& ring);
  const EventForm* form_of(uint32_t id);
  const EventForm* find_form(uint32_t id);
  void read_dictionary();
  bool is_wanted(const RingRecord& record);
  uint64_t duration_of(const RingRecord& span) const;
  void put(Ring& ring, const RingRecord& record);
  void lose(Ring& ring, uint64_t events);
  void tell_damage(Ring& ring);
  bool is_in_the_future(uint64_t time);

  TracedProcess process_;
  FileDescriptor lives_;
  std::shared_ptr<RingMemory> memory_;
  ReaderSlot slot_;
  Begin begin_;
  const DrainOptions& options_;
  uint64_t lost_before_;  // outside of the rings, before this session read them
  uint64_t written_ = 0;  // bytes of events
  uint64_t now_ = 0;      // the clock, some time ago
  uint32_t false_alarms_ = 0;
  static constexpr uint32_t kLongestAwaited = 200;
  uint32_t drained_ = 0;  // times
  bool is_unmapped_ = false;
  bool has_left_ = false;
  std::vector<std::unique_ptr<Ring>> rings_;  // by number; null: not used yet
  Dictionary dictionary_;
  size_t searched_ = 0;  // of the dictionary's sites, for one that was chosen
  bool found_chosen_ = false;
  DrainFilter filter_;
  std::vector<const EventForm*> forms_;  // by id - kFirstId; null: not looked for yet
  ProgramTraces* traces_ = nullptr;      // while it drains
  ProgramTrace* trace_ = nullptr;        // from the first event on
  Status status_;
};

// All that a copy of a process's rings holds.
Status drain_copy(TracedProcess process, RingMemory copy, const DrainOptions& options,
                  ProgramTraces& traces);

}  // namespace strata::collect
