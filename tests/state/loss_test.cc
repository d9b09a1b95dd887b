// SPDX-License-Identifier: Apache-2.0
//
// Real traces of which a part of the events is taken away and marked as lost: what is said then is
// true of the whole trace, or nothing is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "history/writer.h"
#include "recording/open.h"
#include "state/engine.h"
#include "state/index.h"
#include "support/corpus.h"
#include "support/temporary_folder.h"
#include "trace/merge.h"

namespace strata::state {
namespace {

using Traces = std::vector<std::unique_ptr<trace::Trace>>;

constexpr const char* kTraces[] = {"ctf/lttng-ref-traces/basic-kernel-analysis",
                                   "ctf/nested-kvm/host", "dat/lisa_sched_load.dat",
                                   "dat/trace2.dat"};
constexpr int kTimes = 250;

// An engine that writes an index.
struct Indexed {
  Indexed(const std::string& to, int64_t begin)
      : path(to), writer(*IndexWriter::create(to, 1)), engine(begin, &writer) {}
  Result<Index> finish() {
    engine.tell_index(engine.now());
    if (Status done = writer.finish(engine.now()); !done) return done.error();
    return Index::open(path, 1);
  }

  std::string path;
  IndexWriter writer;
  Engine engine;
};

// Which events are lost.
using Fate = std::function<bool(const trace::Event&)>;

class LossyState : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::corpus()) GTEST_SKIP() << test::kNoCorpus;
  }

  void compare(const std::string& name, const std::function<Fate(trace::Trace::Span)>& make_fate) {
    SCOPED_TRACE(name);
    Result<Traces> traces = recording::open_traces(*test::corpus() + '/' + name);
    ASSERT_TRUE(traces) << traces.error().text();
    std::optional<trace::Trace::Span> span;
    for (const auto& trace : *traces)
      if (const auto own = trace->time_span()) trace::Trace::widen(span, *own);
    const Fate is_lost = make_fate(*span);
    const test::TemporaryFolder folder;
    Indexed whole(folder.file("whole"), span->begin.count);
    Indexed lossy(folder.file("lossy"), span->begin.count);
    feed(*traces, is_lost, whole.engine, lossy.engine);
    Result<Index> truth = whole.finish();
    Result<Index> told = lossy.finish();
    ASSERT_TRUE(truth && told);
    charges_nothing_wrongly(whole.engine, lossy.engine);
    says_nothing_wrong(*truth, *told, *span);
  }

 private:
  static void feed(const Traces& traces, const Fate& is_lost, Engine& whole, Engine& lossy) {
    std::vector<std::unique_ptr<trace::Stream>> streams;
    for (const auto& trace : traces) {
      whole.add_trace(*trace);
      lossy.add_trace(*trace);
      std::ranges::move(trace->open_streams(), std::back_inserter(streams));
    }
    trace::Merge merge(std::move(streams));
    std::map<size_t, uint64_t> lost;  // by stream, since its last event
    while (merge.next() == trace::Step::Event) {
      whole.take(merge.event());
      if (is_lost(merge.event())) {
        ++lost[merge.stream_index()];
        continue;
      }
      trace::Event event = merge.event();
      event.lost += std::exchange(lost[merge.stream_index()], 0);
      lossy.take(event);
    }
    for (const auto& [stream, count] : lost)
      if (count > 0) lossy.lose_rest(merge.streams()[stream]->cpu());
  }

  static std::map<Tid, uint64_t> cpu_times(const Engine& engine) {
    std::map<Tid, uint64_t> times;
    for (const Task& task : engine.tasks())
      if (!task.is_idle_task()) times[task.tid] += task.cpu_ns;
    return times;
  }
  static void charges_nothing_wrongly(const Engine& whole, const Engine& lossy) {
    std::map<Tid, uint64_t> truth = cpu_times(whole);
    for (const auto& [tid, ns] : cpu_times(lossy)) EXPECT_LE(ns, truth[tid]) << raw(tid);
  }

  static void says_nothing_wrong(Index& truth, Index& told, trace::Trace::Span span) {
    std::mt19937_64 random(3);
    const auto length = static_cast<uint64_t>(span.end.count - span.begin.count);
    size_t known = 0;
    for (int i = 0; i < kTimes; ++i) {
      const int64_t time = span.begin.count + static_cast<int64_t>(random() % length);
      const Result<Snapshot> right = truth.at(time);
      const Result<Snapshot> said = told.at(time);
      ASSERT_TRUE(right && said);
      known += same_cpus(*right, *said, time);
      same_tasks(*right, *said, time);
      if (HasFailure()) return;
    }
    EXPECT_GT(known, 0u) << "nothing was said at all";
  }

  static size_t same_cpus(const Snapshot& right, const Snapshot& said, int64_t time) {
    std::map<CpuIndex, const CpuAt*> truth;
    for (const CpuAt& cpu : right.cpus) truth[cpu.cpu] = &cpu;
    size_t known = 0;
    for (const CpuAt& cpu : said.cpus) {
      if (cpu.task == kNoTask) continue;
      ++known;
      const CpuAt& other = *truth[cpu.cpu];
      if (other.task == kNoTask) continue;  // the whole trace does not tell either
      EXPECT_EQ(raw(cpu.tid), raw(other.tid)) << time << ", CPU " << cpu.cpu;
    }
    return known;
  }

  static void same_tasks(const Snapshot& right, const Snapshot& said, int64_t time) {
    std::map<Tid, std::set<TaskState>> truth;
    for (const TaskAt& task : right.tasks) truth[task.tid].insert(task.state);
    for (const TaskAt& task : said.tasks) {
      if (task.state == TaskState::Unknown || task.state == TaskState::RunUnknown) continue;
      const std::set<TaskState>& states = truth[task.tid];
      // What it waits for may not have been told; that it waits was.
      const bool right_wait =
          is_blocked(task.state) &&
          std::ranges::any_of(states, [](TaskState state) { return is_blocked(state); });
      EXPECT_TRUE(states.contains(task.state) || states.contains(TaskState::Unknown) || right_wait)
          << time << ", " << raw(task.tid) << ' ' << name_of(task.state) << " is "
          << (states.empty() ? "nothing" : name_of(*states.begin()));
    }
  }
};

TEST_F(LossyState, WithAFifthOfTheEventsLostNothingIsChargedToAWrongProcess) {
  for (const char* name : kTraces) {
    compare(name, [](trace::Trace::Span) -> Fate {
      return [random = std::mt19937(5)](const trace::Event&) mutable { return random() % 5 == 0; };
    });
  }
}

TEST_F(LossyState, WithLongGapsNothingIsChargedToAWrongProcess) {
  for (const char* name : kTraces) {
    compare(name, [](trace::Trace::Span) -> Fate {
      // A hundred events here, none for a while.
      return [random = std::mt19937(6), gap = 0](const trace::Event&) mutable {
        if (gap == 0 && random() % 1000 == 0) gap = 100;
        return gap > 0 && gap-- > 0;
      };
    });
  }
}

TEST_F(LossyState, WithoutTheBeginningTheRestIsRightOrUnknown) {
  for (const char* name : kTraces) {
    compare(name, [](trace::Trace::Span span) -> Fate {
      const int64_t from = span.begin.count + (span.end.count - span.begin.count) / 3;
      return [from](const trace::Event& event) { return event.time.count < from; };
    });
  }
}

}  // namespace
}  // namespace strata::state
