// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "live/programs.h"
#include "live/time_rows.h"
#include "period/table.h"

struct calls;  // the eBPF programs, as bpftool names them

namespace strata::live {

// System calls, watched as long as this lives: in which mode tasks and CPUs run, and what tasks
// wait for. All of that is counted in the slots of tasks and CPUs; what is told here is how long
// the calls took.
class CallWatch {
 public:
  // `tells_times`: whether it is. `tasks` must outlive it.
  static Result<std::unique_ptr<CallWatch>> open(const TaskPrograms& tasks, bool tells_times);
  ~CallWatch();

  bool tells_times() const { return !times_.values<Times>().empty(); }
  void tell(period::Machine& machine);

 private:
  explicit CallWatch(const TaskPrograms& tasks) : tasks_(tasks) {}

  const TaskPrograms& tasks_;
  calls* programs_ = nullptr;
  MappedMap times_;
  TimeRows rows_;
  std::vector<Link> links_;
};

}  // namespace strata::live
