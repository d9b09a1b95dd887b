// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "period/table.h"
#include "state/machine.h"
#include "state/period_cutter.h"

namespace strata::state {

// All machines of a pass, cut into periods of one length.
//
// A time without events is not cut: it is one table of several lengths, so that there are never
// more tables than events, whatever times a trace tells.
class Periods {
 public:
  // Gets each table when its period has ended. False: enough.
  using Take = std::function<bool(period::Table&&)>;

  // From `begin` on; the last period ends at `last`, however long it then is. The machines and
  // their engines must outlive it.
  Periods(std::span<const Machine> machines, int64_t begin, int64_t last, int64_t length,
          std::string clock, Take take);

  // To be called for each event before its machine's engine takes it. False: enough.
  bool arrive(const trace::Event& event, size_t machine);
  // Events that were lost behind the last one of a CPU.
  void lose_rest(size_t machine, CpuId cpu, uint64_t events, bool more_than_these) {
    cutters_[machine]->count_lost(cpu, events, more_than_these);
  }
  // What is left, when the engines have come to their end.
  void finish(int64_t end);

 private:
  void reach(int64_t time);
  void cut(int64_t time);

  std::span<const Machine> machines_;
  std::vector<std::unique_ptr<PeriodCutter>> cutters_;
  int64_t begin_;  // of this period
  int64_t last_;
  int64_t length_;
  int64_t next_;  // edge
  std::string clock_;
  Take take_;
  bool is_enough_ = false;
};

}  // namespace strata::state
