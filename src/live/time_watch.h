// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "live/programs.h"
#include "live/time_rows.h"
#include "period/table.h"

struct times;  // the eBPF programs, as bpftool names them

namespace strata::live {

// How long tasks wait for CPUs, and interrupts and requests of block devices take: watched as long
// as this lives.
class TimeWatch {
 public:
  // `tasks` must outlive it.
  static Result<std::unique_ptr<TimeWatch>> open(const TaskPrograms& tasks);
  ~TimeWatch();

  // Since the last call; at the first, from the beginning on.
  void tell(period::Machine& machine);

 private:
  explicit TimeWatch(const TaskPrograms& tasks);
  void tell_lines(period::Machine& machine);
  void tell_devices(period::Machine& machine);

  const TaskPrograms& tasks_;
  kernel::EbpfObject<times> programs_;
  MappedMap line_times_;
  MappedMap line_names_;
  MappedMap device_times_;
  TimeRows queue_rows_;
  TimeRows softirq_rows_;
  TimeRows irq_rows_;
  std::array<TimeRows, kDevices> waited_rows_;
  std::array<TimeRows, kDevices> served_rows_;
  std::vector<Link> links_;
};

}  // namespace strata::live
