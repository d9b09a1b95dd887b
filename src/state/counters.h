// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "state/task.h"
#include "trace/event.h"
#include "trace/samples.h"

namespace strata::state {

// What performance counters have counted, charged to whoever ran.
//
// A counter is a CPU's and only grows. What it has counted between two readings belongs to the
// thread of the second one, where the first one told that it was that thread's turn; otherwise (a
// switch was left out, or readings were lost) it is nobody's. All of that is told by the readings
// themselves, so that it does not matter that their clock is another one than the events'. What was
// counted counts when it is read.
class Counters {
 public:
  // Whether events of this type are readings.
  bool add_type(const trace::TraceInfo& trace, const trace::EventType& type);
  // Of a reading: who ran, and whether it is known that it was that one alone.
  struct Ran {
    Tid tid;
    bool is_certain;
  };
  Ran ran(const trace::Event& event) const;
  // Charges what has been counted to that task; kNoTask: nobody's. Gives it, in the order of the
  // names, until the next call; empty: nothing was counted.
  std::span<const uint64_t> take(const trace::Event& event, TaskId task);
  void reset();

  // In the order in which they were heard of; "cache-misses".
  const std::vector<std::string>& names() const { return names_; }
  // What was counted while a task ran on a CPU, in the order of the names. What is missing at the
  // end is 0.
  struct Charged {
    TaskId task;
    CpuIndex cpu;
    std::vector<uint64_t> counts;
  };
  const std::vector<Charged>& charged() const { return charged_; }
  // On all CPUs.
  std::vector<uint64_t> of(TaskId task) const;

 private:
  // Of one recording: its CPUs have been counting since it began.
  struct Source {
    std::vector<size_t> columns;  // which of all names
    struct Last {
      Tid runs = kNoTid;
      std::vector<uint64_t> counts;
    };
    std::unordered_map<CpuIndex, Last> last;
  };
  struct Type {
    size_t source;
    trace::CounterReading reading;
  };

  size_t source_of(const trace::TraceInfo& trace, const trace::CounterReading& reading);
  std::vector<uint64_t>& counts_of(TaskId task, CpuIndex cpu);

  std::vector<std::string> names_;
  std::unordered_map<const trace::EventType*, Type> types_;
  std::map<const trace::TraceInfo*, size_t> source_numbers_;
  std::vector<Source> sources_;
  std::vector<Charged> charged_;
  std::unordered_map<uint64_t, size_t> places_;  // in that, by task and CPU
  CpuIndex cpus_ = 0;
  std::vector<uint64_t> counted_;  // by the last reading
};

}  // namespace strata::state
