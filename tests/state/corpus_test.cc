// SPDX-License-Identifier: Apache-2.0
//
// The state engine on traces that others recorded, against what other programs found in them.
#include "support/corpus.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "recording/open.h"
#include "state/index_store.h"
#include "state/kernel_traces.h"
#include "state/pass.h"
#include "state/snapshot.h"
#include "support/temporary_folder.h"
#include "trace/merge.h"

namespace strata::state {
namespace {

using Traces = std::vector<std::unique_ptr<trace::Trace>>;

class StateOfCorpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::corpus()) GTEST_SKIP() << test::kNoCorpus;
  }
  static Traces open(const std::string& name) {
    Result<Traces> traces = recording::open_traces(*test::corpus() + '/' + name);
    if (!traces) ADD_FAILURE() << traces.error().text();
    return traces ? *std::move(traces) : Traces();
  }
};

template <size_t N>
uint64_t sum_of(const std::array<uint64_t, N>& ns) {
  return std::accumulate(ns.begin(), ns.end(), uint64_t{0});
}

TEST_F(StateOfCorpus, TimesOfAllStatesAddUpToTheSpan) {
  for (const char* name : kKernelTraces) {
    SCOPED_TRACE(name);
    const Traces traces = open(name);
    Pass pass(traces);
    pass.run();
    for (const Machine& machine : pass.machines()) {
      const Engine& engine = *machine.engine;
      const auto span = static_cast<uint64_t>(engine.now() - engine.begin());
      for (const Cpu& cpu : engine.cpus()) {
        if (!cpu.is_there) continue;
        EXPECT_EQ(sum_of(cpu.ns), span);
      }
      for (const Task& task : engine.tasks()) {
        if (task.is_idle_task()) continue;
        EXPECT_EQ(sum_of(task.ns), static_cast<uint64_t>(engine.now() - task.born))
            << raw(task.tid);
      }
      uint64_t charged = 0;
      for (const Slot& slot : engine.statistics().slots()) charged += slot.cpu_ns;
      uint64_t of_cpus = 0;
      for (const Cpu& cpu : engine.cpus()) of_cpus += sum_of(cpu.ns);
      EXPECT_EQ(charged, of_cpus);
    }
  }
}

// A task of lttng-analyses runs from switch to switch, interrupts included.
TEST_F(StateOfCorpus, CpuTimeIsWhatLttngCputopFound) {
  const std::string name = "ctf/lttng-ref-traces/basic-kernel-analysis";
  std::ifstream file(*test::corpus() +
                     "/ctf/lttng-ref-traces/oracle/basic-kernel-analysis/cputop-run.mi.json");
  const auto oracle = nlohmann::json::parse(file);
  const Traces traces = open(name);
  Pass pass(traces);
  pass.run();
  const Engine& engine = *pass.machines().front().engine;
  const auto& processes = oracle["results"][0];
  const double span = processes["time-range"]["end"]["value"].get<double>() -
                      processes["time-range"]["begin"]["value"].get<double>();
  for (const auto& row : processes["data"]) {
    // It ran when tracing began: to lttng-analyses from then on, to us from the first event that
    // tells it.
    if (row[0]["tid"] == 11925) continue;
    const Task& task = engine.tasks()[engine.tasks().find(Tid{row[0]["tid"].get<int32_t>()})];
    uint64_t running = 0;
    for (size_t state = 0; state < kTaskStates; ++state)
      if (is_running(TaskState(state))) running += task.ns[state];
    EXPECT_NEAR(static_cast<double>(running) / span, row[3]["value"].get<double>(), 2e-5)
        << raw(task.tid);
  }
  for (const auto& row : oracle["results"][1]["data"]) {
    const auto cpu = row[0]["id"].get<uint32_t>();
    // To lttng-analyses, an idle CPU stays idle while it handles interrupts; and what it does not
    // know is idle.
    uint64_t tasks = 0;
    for (const Slot& slot : engine.statistics().slots()) {
      const bool is_task = slot.task != kNoTask && !engine.tasks()[slot.task].is_idle_task();
      if (slot.cpu == cpu && is_task) tasks += slot.cpu_ns;
    }
    EXPECT_NEAR(static_cast<double>(tasks) / span, row[1]["value"].get<double>(), 0.004);
  }
}

TEST_F(StateOfCorpus, CountsSystemCallsAsLttngSyscallstatsDid) {
  std::ifstream file(*test::corpus() +
                     "/ctf/lttng-ref-traces/oracle/basic-kernel-analysis/syscallstats-run.mi.json");
  const auto oracle = nlohmann::json::parse(file);
  const Traces traces = open("ctf/lttng-ref-traces/basic-kernel-analysis");
  Pass pass(traces);
  pass.run();
  const Engine& engine = *pass.machines().front().engine;
  // Calls that began before the trace, or did not end in it, do not count to lttng-analyses: one of
  // each thread's at most, of each kind.
  std::map<std::pair<int32_t, std::string>, uint64_t> entries;
  std::map<std::pair<int32_t, std::string>, uint64_t> exits;
  for (const EventCount& counted : engine.statistics().counts()) {
    const trace::Binding& meaning = engine.types()[counted.type]->meaning;
    const TaskId task = engine.statistics().slots()[counted.slot].task;
    if (task == kNoTask) continue;
    const std::pair call(raw(engine.tasks()[task].tid), meaning.syscall);
    if (meaning.word == trace::Word::SyscallEntry) entries[call] += counted.count;
    if (meaning.word == trace::Word::SyscallExit) exits[call] += counted.count;
  }
  size_t compared = 0;
  for (const auto& result : oracle["results"]) {
    if (!result["class"].is_object()) continue;  // all threads together
    const auto title = result["class"]["title"].get<std::string>();
    const int32_t tid = std::stoi(title.substr(title.find("TID: ") + 5));
    for (const auto& row : result["data"]) {
      const auto syscall = row[0]["name"].get<std::string>();
      if (syscall == "unknown") continue;  // without the return from the call that made the thread
      const std::pair call(tid, syscall);
      const uint64_t ours = std::min(entries[call], exits[call]);
      const auto theirs = row[1]["value"].get<uint64_t>();
      EXPECT_TRUE(ours == theirs || ours == theirs + 1) << tid << ' ' << syscall << ' ' << ours;
      ++compared;
    }
  }
  EXPECT_GT(compared, 20u);
}

// What the index says of a time may be more than was known then: what a wait was for shows when it
// ends, and a loss shows with the next event.
void expect_same(const Snapshot& indexed, const Snapshot& replayed, int64_t time) {
  SCOPED_TRACE(time);
  ASSERT_EQ(indexed.cpus.size(), replayed.cpus.size());
  for (size_t i = 0; i < indexed.cpus.size(); ++i) {
    if (indexed.cpus[i].mode == Mode::Unknown && indexed.cpus[i].task == kNoTask) continue;
    if (indexed.cpus[i].mode == Mode::Virt) continue;
    CpuAt other = indexed.cpus[i];
    if (replayed.cpus[i].name.empty()) other.name = "";  // its task's, which was told later
    EXPECT_EQ(other, replayed.cpus[i]);
  }
  std::map<TaskId, const TaskAt*> found;
  for (const TaskAt& task : indexed.tasks) found[task.id] = &task;
  for (const TaskAt& task : replayed.tasks) {
    ASSERT_TRUE(found.contains(task.id)) << raw(task.tid);
    TaskAt other = *found[task.id];
    if (other.state == TaskState::Unknown && task.state != TaskState::Unknown) continue;
    if (task.state == TaskState::WaitOther && is_blocked(other.state)) other.state = task.state;
    if (task.state == TaskState::Virt) other.detail = task.detail;
    // Names, and processes, that were told later.
    if (task.name.empty()) other.name = "";
    if (task.pid == kNoTid) other.pid = kNoTid;
    if (task.state == TaskState::WaitCpu) other.detail = task.detail;
    EXPECT_EQ(task, other) << raw(task.tid) << ' ' << name_of(task.state) << '/'
                           << name_of(other.state) << ' ' << task.since << ' ' << other.since;
  }
}

TEST_F(StateOfCorpus, StateByTheIndexIsStateByReplay) {
  const test::TemporaryFolder folder;
  std::mt19937_64 random(11);
  for (const char* name : kKernelTraces) {
    SCOPED_TRACE(name);
    const Traces traces = open(name);
    Pass whole(traces);
    ASSERT_TRUE(whole.write_index(
        [&](size_t machine) { return folder.path() + "/index-" + std::to_string(machine); }, 1));
    whole.run();
    const int64_t begin = whole.span().begin.count;
    const auto span = static_cast<uint64_t>(whole.span().end.count - begin);
    std::vector<int64_t> times;
    for (int i = 0; i < 1000; ++i) times.push_back(begin + static_cast<int64_t>(random() % span));
    std::ranges::sort(times);
    Result<Index> index = Index::open(folder.path() + "/index-0", 1);
    ASSERT_TRUE(index) << index.error().text();

    // The same events again, looked at before the first one behind each time.
    Engine engine(begin);
    std::vector<std::unique_ptr<trace::Stream>> streams;
    for (const auto& trace : traces) {
      engine.add_trace(*trace);
      std::ranges::move(trace->open_streams(), std::back_inserter(streams));
    }
    trace::Merge merge(std::move(streams));
    size_t next = 0;
    while (merge.next() == trace::Step::Event) {
      for (; next < times.size() && times[next] < merge.event().time.count; ++next) {
        const Result<Snapshot> at = index->at(times[next]);
        ASSERT_TRUE(at) << at.error().text();
        expect_same(*at, snapshot_of(engine), times[next]);
        if (HasFailure()) return;
      }
      engine.take(merge.event());
    }
    EXPECT_GT(next, 900u);
  }
}

}  // namespace
}  // namespace strata::state
