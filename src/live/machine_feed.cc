// SPDX-License-Identifier: Apache-2.0
#include "live/machine_feed.h"

#include <sys/utsname.h>

#include "kernel/counter_names.h"
#include "kernel/cpu_list.h"
#include "live/call_watch.h"
#include "live/cgroup_names.h"
#include "live/counter_watch.h"
#include "live/cpu_rows.h"
#include "live/interface_counters.h"
#include "live/machine_files.h"
#include "live/marks.h"
#include "live/moment.h"
#include "live/programs.h"
#include "live/task_rows.h"
#include "live/time_watch.h"
#include "live/vm_watch.h"

namespace strata::live {
namespace {

using period::Column;
using period::Group;
using period::Groups;

// Of cgroups that are new, so many are named for each table: names come from files.
constexpr uint32_t kCgroupsAtStart = 256;
constexpr uint32_t kCgroupsATable = 2;

std::string machine_name() {
  utsname name{};
  return uname(&name) == 0 ? name.nodename : "";
}

class MachineFeed final : public period::Feed {
 public:
  static Result<std::unique_ptr<Feed>> open(Groups groups, const Limits& limits) {
    Result<std::unique_ptr<TaskPrograms>> programs = TaskPrograms::load(limits);
    if (!programs) return std::move(programs).error();
    const Result<std::vector<uint32_t>> cpus = kernel::online_cpus();
    if (!cpus) return cpus.error();
    std::unique_ptr<MachineFeed> feed(new MachineFeed(std::move(*programs), limits, *cpus));
    if (Status status = feed->programs_->attach(); !status) return std::move(status).error();
    if (Status status = feed->want(groups); !status) return std::move(status).error();
    feed->begin();
    return std::unique_ptr<Feed>(std::move(feed));
  }

  bool is_live() const override { return true; }
  Result<std::optional<period::Table>> next() override;
  Status restart() override {
    return Error{"", std::nullopt, "a running machine has no first table"};
  }
  Status want(Groups groups) override;
  Status choose_counters(const std::vector<std::string>& names) override;
  Groups told() const override { return told_; }
  std::vector<std::string> shortfalls() const override;

 private:
  MachineFeed(std::unique_ptr<TaskPrograms> programs, const Limits& limits,
              std::span<const uint32_t> online_cpus)
      : limits_(limits),
        programs_(std::move(programs)),
        cpus_(programs_->memory(), now(), online_cpus),
        tasks_(programs_->memory(), cgroups_) {}
  void begin();
  uint64_t copy();
  void tell_totals(bool wanted);

  const Limits limits_;
  std::unique_ptr<TaskPrograms> programs_;
  CgroupNames cgroups_;
  CpuRows cpus_;
  TaskRows tasks_;
  InterfaceCounters interfaces_;
  std::unique_ptr<MachineFiles> files_;
  std::unique_ptr<CallWatch> calls_;
  std::unique_ptr<TimeWatch> times_;
  std::unique_ptr<VmWatch> vms_;
  std::unique_ptr<CounterWatch> counters_;
  std::vector<kernel::Counter> chosen_counters_;  // none: the usual ones
  Groups wanted_;
  Groups told_;
  std::string refusal_;  // of what is wanted
  std::string name_ = machine_name();
  uint64_t begin_ = 0;  // of the next table
  int64_t offset_ = 0;  // from the programs' clock to the epoch
  uint64_t own_time_ = 0;
  uint64_t no_room_ = 0;  // since the beginning
  uint64_t missed_switches_ = 0;
};

// Who copies may lose the CPU in the midst of it, and then copies again. Returns when it began to.
uint64_t MachineFeed::copy() {
  constexpr int kTries = 3;
  constexpr uint64_t kQuick = 100'000;
  constexpr uint64_t kQuickATask = 100;
  uint64_t moment = 0;
  for (int tries = 0; tries < kTries; ++tries) {
    moment = now();
    cpus_.copy();
    tasks_.copy();
    if (vms_) vms_->copy();
    if (now() - moment < kQuick + kQuickATask * tasks_.size()) break;
  }
  ++programs_->memory().control->period;
  return moment;
}

void MachineFeed::begin() {
  cgroups_.allow(kCgroupsAtStart);
  period::Machine nobody;
  interfaces_.tell(nobody);
  offset_ = static_cast<int64_t>(now_on(CLOCK_REALTIME) - now());
  own_time_ = now_on(CLOCK_PROCESS_CPUTIME_ID);
  begin_ = copy();
  cpus_.begin(begin_);
  tasks_.begin(begin_);
  if (vms_) vms_->begin(begin_);
}

Result<std::optional<period::Table>> MachineFeed::next() {
  const uint64_t end = copy();
  period::Table table{.begin = static_cast<int64_t>(begin_) + offset_,
                      .end = static_cast<int64_t>(end) + offset_,
                      .source = period::Source::Live,
                      .clock = "epoch",
                      .machines = {}};
  period::Machine& machine = table.machines.emplace_back(period::Machine{.name = name_});
  const bool tells_calls = calls_ != nullptr;
  cpus_.tell(end, tells_calls, machine);
  tasks_.tell(end, offset_, tells_calls, machine.tasks);
  if (calls_) calls_->tell(machine);
  if (times_) times_->tell(machine);
  if (vms_) vms_->tell(begin_, end, tells_calls, machine);
  cgroups_.allow(kCgroupsATable);
  interfaces_.tell(machine);
  if (files_) files_->tell(machine);
  mark(told(), machine.marks);
  if (counters_) counters_->rows().tell(machine);
  machine.add_up();
  const uint64_t own_time = now_on(CLOCK_PROCESS_CPUTIME_ID);
  machine.values.set(Column::Observer, own_time - std::exchange(own_time_, own_time));
  no_room_ += machine.values[Column::NoRoom];
  missed_switches_ += machine.values[Column::MissedSwitches];
  begin_ = end;
  return std::optional(std::move(table));
}

std::vector<std::string> MachineFeed::shortfalls() const {
  std::vector<std::string> shortfalls;
  if (!refusal_.empty()) shortfalls.push_back(refusal_);
  if (no_room_ > 0)
    shortfalls.push_back(std::to_string(no_room_) +
                         " times a task or descriptor was missing, for want of room");
  if (missed_switches_ > 0)
    shortfalls.push_back("the kernel left out " + std::to_string(missed_switches_) +
                         " switches between tasks; when they were is estimated");
  return shortfalls;
}

// From now on: what was counted before is that from which to count.
void MachineFeed::tell_totals(bool wanted) {
  if (wanted) told_.add(Group::Totals);
  if (wanted == (files_ != nullptr)) return;
  files_ = wanted ? std::make_unique<MachineFiles>() : nullptr;
  period::Machine nobody;
  if (files_) files_->tell(nobody);
}

Status MachineFeed::choose_counters(const std::vector<std::string>& names) {
  Result<std::vector<kernel::Counter>> chosen = kernel::known_counters(names);
  if (!chosen) return std::move(chosen).error();
  chosen_counters_ = std::move(*chosen);
  tasks_.tell_counters(nullptr);
  counters_.reset();
  return want(wanted_);
}

Status MachineFeed::want(Groups groups) {
  wanted_ = groups;
  refusal_.clear();
  const auto refuse = [&](const std::string& why) {
    if (!why.empty()) refusal_ += (refusal_.empty() ? "" : "; ") + why;
  };
  // Begins to watch what is wanted and not watched yet, and ends what is not wanted any more.
  const auto watch = [&](auto& watched, Group group, bool is_wanted, auto&& open) {
    if (!is_wanted) watched.reset();
    if (is_wanted && !watched) {
      auto opened = open();
      if (opened)
        watched = std::move(*opened);
      else
        refuse(opened.error().text());
    }
    if (watched) told_.add(group);
  };
  told_ = Groups::least();
  tell_totals(groups.has(Group::Totals));
  const CallChoice choice = {.times = groups.has(Group::Latencies),
                             .traffic = groups.has(Group::Io)};
  if (calls_ && calls_->choice() != choice) calls_.reset();
  watch(calls_, Group::Calls, groups.has(Group::Calls) || groups.has(Group::Io),
        [&] { return CallWatch::open(*programs_, choice, limits_); });
  if (calls_ && choice.traffic) told_.add(Group::Io);
  watch(times_, Group::Latencies, groups.has(Group::Latencies),
        [&] { return TimeWatch::open(*programs_); });
  watch(vms_, Group::Vms, groups.has(Group::Vms),
        [&] { return VmWatch::open(*programs_, limits_); });

  tasks_.tell_counters(nullptr);
  watch(counters_, Group::Counters, groups.has(Group::Counters), [&] {
    return CounterWatch::open(
        *programs_, chosen_counters_.empty() ? kernel::usual_counters() : chosen_counters_);
  });
  if (counters_) {
    tasks_.tell_counters(&counters_->rows());
    refuse(counters_->refusal());
  }
  if (refusal_.empty()) return {};
  return Error{"", std::nullopt, refusal_};
}

}  // namespace

Result<std::unique_ptr<period::Feed>> machine_feed(Groups groups, const Limits& limits) {
  return MachineFeed::open(groups, limits);
}

}  // namespace strata::live
