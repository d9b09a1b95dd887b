// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "live/open_rows.h"
#include "live/programs.h"
#include "live/time_rows.h"
#include "period/table.h"

struct calls;  // the eBPF programs, as bpftool names them

namespace strata::live {

// What is told of system calls besides modes and waits.
struct CallChoice {
  bool times = false;    // how long they took
  bool traffic = false;  // what went through which descriptor
  bool operator==(const CallChoice&) const = default;
};

// System calls, watched as long as this lives: in which mode tasks and CPUs run, and what tasks
// wait for, which is counted in their slots; and what was chosen.
class CallWatch {
 public:
  // `tasks` must outlive it.
  static Result<std::unique_ptr<CallWatch>> open(const TaskPrograms& tasks, CallChoice choice,
                                                 const Limits& limits);
  ~CallWatch();

  CallChoice choice() const { return choice_; }
  void tell(period::Machine& machine);

 private:
  CallWatch(const TaskPrograms& tasks, CallChoice choice);
  void tell_traffic(period::Machine& machine);

  const TaskPrograms& tasks_;
  const CallChoice choice_;
  kernel::EbpfObject<calls> programs_;
  MappedMap times_;
  TimeRows rows_;
  std::vector<OpenKey> keys_;
  std::vector<OpenFile> opens_;
  OpenRows open_rows_;
  std::vector<Link> links_;
};

}  // namespace strata::live
