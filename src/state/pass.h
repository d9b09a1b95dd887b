// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "state/fusion.h"
#include "state/machine.h"
#include "state/periods.h"
#include "trace/merge.h"
#include "trace/summary.h"
#include "trace/trace.h"

namespace strata::state {

// All events of some traces, merged, through an engine for each machine.
class Pass {
 public:
  using Traces = std::vector<std::unique_ptr<trace::Trace>>;

  // The traces must outlive it.
  explicit Pass(const Traces& traces);

  // Makes an index of each machine; `path` says where by its number.
  Status write_index(const std::function<std::string(size_t machine)>& path, uint64_t source);

  // Statistics are of this period alone; state is known from what came before, too.
  std::optional<Nanoseconds> begin;
  std::optional<Nanoseconds> end;  // included

  // Cuts everything into periods of this length, on times that count from `clock`; each is given to
  // `at_period`.
  struct PeriodLength {
    Nanoseconds length;
    std::string clock;
  };
  std::optional<PeriodLength> periods;
  Periods::Take at_period;

  // Called at each event, when the engine knows in which state it found its CPU; `trace` is the
  // number of the event's trace. False: enough.
  std::function<bool(const trace::Event&, size_t trace, const Engine&)> at_event;
  trace::ProgressCallback progress;

  // Traces, by their numbers, that are still being recorded: they are followed. Where nothing more
  // of them is there yet, and now and then, `at_pause` is called, which says whether to go on.
  std::vector<size_t> growing;
  std::function<bool()> at_pause;
  // From there: tells the indexes all up to now, for whoever opens them. Gives the time that it is.
  Result<int64_t> checkpoint();

  void run();
  // The same piece by piece: goes on until `at_period` has been given a table, which may be two
  // after a time without events, or to the end, and then says false: there is no more.
  bool run_to_next_period();

  const std::vector<Machine>& machines() const { return machines_; }
  // Guests and hosts among them. Null: there is one machine.
  const Fusion* fusion() const { return fusion_.get(); }
  const Engine& engine_of(size_t trace) const { return *machines_[machine_of_[trace]].engine; }
  // What could not be read.
  const std::vector<Error>& problems() const { return problems_; }
  trace::Trace::Span span() const { return span_; }

 private:
  void start();
  bool take(const trace::Event& event, size_t stream);
  void start_period();
  void start_periods(int64_t begin);
  void report_progress() const;
  void finish();

  const Traces& traces_;
  std::vector<Machine> machines_;
  std::unique_ptr<Fusion> fusion_;
  std::unique_ptr<Periods> periods_;
  std::optional<trace::Merge> merge_;  // while it runs
  std::vector<size_t> machine_of_;     // each trace's
  std::vector<size_t> trace_of_;       // each stream's
  std::vector<size_t> machine_of_stream_;
  std::vector<Error> problems_;
  trace::Trace::Span span_{};
  bool has_ended_ = false;
  bool in_period_ = false;
  bool gave_table_ = false;
  uint64_t events_ = 0;
  int64_t known_until_ = INT64_MIN;  // of growing traces: nothing comes before
};

}  // namespace strata::state
