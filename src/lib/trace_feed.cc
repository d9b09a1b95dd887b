// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include "lib/feeds.h"
#include "lib/told.h"
#include "recording/open.h"
#include "state/pass.h"
#include "trace/samples.h"

namespace strata::lib {
namespace {

using period::Group;
using Traces = state::Pass::Traces;

period::Groups groups_of(const Traces& traces) {
  using trace::Word;
  period::Groups groups;
  for (const auto& trace : traces) {
    for (const trace::EventType* type : trace->event_types()) {
      switch (type->meaning.word) {
        case Word::SyscallEntry:
        case Word::SyscallExit:
          groups.add(Group::Calls);
          groups.add(Group::Io);
          groups.add(Group::Latencies);
          break;
        case Word::SchedSwitch:
        case Word::IrqEntry:
        case Word::SoftirqEntry:
          groups.add(Group::Latencies);
          break;
        case Word::BlockComplete:
          groups.add(Group::Io);
          groups.add(Group::Latencies);
          break;
        case Word::NetQueue:
        case Word::NetReceive:
          groups.add(Group::Io);
          break;
        case Word::VmEntry:
        case Word::VmExit:
          groups.add(Group::Vms);
          break;
        default:
          if (trace::counter_reading(trace->info(), *type)) groups.add(Group::Counters);
          break;
      }
    }
  }
  return groups;
}

// A pass that goes on when a table is wanted.
class TraceFeed : public period::Feed {
 public:
  TraceFeed(Traces traces, Nanoseconds period)
      : traces_(std::move(traces)), period_(period), told_(groups_of(traces_)) {
    begin();
  }

  bool is_live() const override { return false; }

  Result<std::optional<period::Table>> next() override {
    while (tables_.empty() && !has_ended_) has_ended_ = !pass_->run_to_next_period();
    if (!tables_.empty()) {
      std::optional<period::Table> table(std::move(tables_.front()));
      tables_.pop_front();
      told_.count(*table);
      return table;
    }
    // What could not be read is told when all that could has been given.
    if (!std::exchange(told_problem_, true)) {
      if (const std::vector<Error> all = problems(); !all.empty()) return all.front();
    }
    return std::optional<period::Table>();
  }

  Status restart() override {
    begin();
    return {};
  }

  Status want(period::Groups groups) override { return told_.want(groups); }
  period::Groups told() const override { return told_.groups(); }

  std::vector<std::string> shortfalls() const override {
    std::vector<std::string> sentences;
    if (trace::time_base(traces_) == "mixed")
      sentences.emplace_back(
          "the traces' times are of different clocks: what happened at one time "
          "need not have the same time in them");
    for (const auto& trace : traces_)
      if (const trace::TraceInfo& info = trace->info(); !info.warning.empty())
        sentences.push_back(info.path + ": " + info.warning);
    for (const Error& problem : problems()) sentences.push_back(problem.text());
    std::ranges::move(told_.shortfalls(), std::back_inserter(sentences));
    return sentences;
  }

 private:
  void begin() {
    tables_.clear();
    has_ended_ = told_problem_ = false;
    told_.forget_losses();
    pass_.emplace(traces_);
    pass_->periods = {period_, trace::time_base(traces_)};
    pass_->at_period = [this](period::Table&& table) {
      tables_.push_back(std::move(table));
      return true;
    };
  }

  std::vector<Error> problems() const {
    std::vector<Error> all;
    for (const auto& trace : traces_) std::ranges::copy(trace->problems(), std::back_inserter(all));
    std::ranges::copy(pass_->problems(), std::back_inserter(all));
    return all;
  }

  Traces traces_;
  Nanoseconds period_;
  Told told_;
  std::optional<state::Pass> pass_;
  std::deque<period::Table> tables_;  // that the pass gave, and nobody has got yet: two or three
  bool has_ended_ = false;
  bool told_problem_ = false;
};

}  // namespace

Result<std::unique_ptr<period::Feed>> trace_feed(const std::vector<std::string>& paths,
                                                 Nanoseconds period) {
  if (period.count <= 0) return Error{{}, std::nullopt, "a period takes longer than nothing"};
  Traces traces;
  for (const std::string& path : paths) {
    Result<Traces> found = recording::open_traces(path);
    if (!found) return std::move(found).error();
    if (found->empty()) return Error{path, std::nullopt, "nothing has been recorded there yet"};
    std::ranges::move(*found, std::back_inserter(traces));
  }
  if (traces.empty()) return Error{{}, std::nullopt, "there is no trace to open"};
  return std::unique_ptr<period::Feed>(std::make_unique<TraceFeed>(std::move(traces), period));
}

}  // namespace strata::lib
