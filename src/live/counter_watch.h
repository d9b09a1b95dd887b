// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "kernel/counter_names.h"
#include "kernel/ebpf.h"
#include "live/counter_rows.h"
#include "live/programs.h"

struct counters;  // the eBPF programs, as bpftool names them

namespace strata::live {

// Performance counters of all CPUs that run now, watched as long as this lives: what they count
// while tasks run.
class CounterWatch {
 public:
  // What of them cannot be had is left out (refusal()); an error where none can. `tasks` must
  // outlive it.
  static Result<std::unique_ptr<CounterWatch>> open(const TaskPrograms& tasks,
                                                    const std::vector<kernel::Counter>& wanted);
  ~CounterWatch();

  CounterRows& rows() { return *rows_; }
  // Which of the counters are missing, and why; empty: none.
  const std::string& refusal() const { return refusal_; }

 private:
  CounterWatch() = default;
  Status open_events(const std::vector<kernel::Counter>& wanted, size_t cpus);
  // Why it cannot be had; empty: it is watched.
  std::string open_event(const kernel::Counter& counter);
  Status load(const TaskPrograms& tasks);

  std::vector<uint32_t> cpus_;  // that run
  // What the programs read: perf's events, which it holds, by CPU and the number of the counter.
  FileDescriptor events_;
  std::vector<period::Column> columns_;  // where tables tell each
  uint32_t takes_turns_ = 0;             // a bit for each that needs a place in the processor
  std::string refusal_;
  kernel::EbpfObject<counters> programs_;
  MappedMap task_counts_;
  MappedMap cpu_counters_;
  std::optional<CounterRows> rows_;
  std::vector<Link> links_;
};

}  // namespace strata::live
