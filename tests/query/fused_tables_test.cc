// SPDX-License-Identifier: Apache-2.0
//
// What CPUs ran, a host's and its guest's seen together, in SQL against what Fusion knew at every
// moment.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "state/pass.h"
#include "state/stub_trace.h"
#include "support/corpus.h"
#include "watched_trace.h"

namespace strata::query {
namespace {

using state::Pass;

constexpr size_t kHost = 0;
constexpr size_t kGuest = 1;

// "guest 131 web" of a moment: what the host's one CPU ran; what became of the guest's one.
struct Moment {
  std::string physical;
  std::string guest;
  bool operator==(const Moment&) const = default;
};

std::string tid_text(const state::Engine& engine, state::TaskId task) {
  return task == state::kNoTask ? "" : std::to_string(raw(engine.tasks()[task].tid));
}

Moment moment_of(const Pass& pass) {
  const auto engine = [&](size_t machine) -> const state::Engine& {
    return *pass.machines()[machine].engine;
  };
  const state::Fusion::Running running = pass.fusion()->running_on(kHost, 0);
  Moment moment;
  moment.physical = pass.machines()[running.machine].name + ' ' +
                    tid_text(engine(running.machine), running.task) + ' ' +
                    std::string(name_of(engine(running.machine).cpus()[running.cpu].mode));
  const state::Fusion::GuestCpu* cpu = pass.fusion()->guest_cpu(kGuest, 0);
  if (cpu != nullptr && !engine(kGuest).cpus().empty())
    moment.guest = tid_text(engine(kGuest), engine(kGuest).cpus()[0].task) + ' ' +
                   std::string(name_of(cpu->state));
  return moment;
}

class FusedTables : public testing::Test {
 protected:
  void SetUp() override {
    const auto corpus = test::corpus();
    if (!corpus) GTEST_SKIP() << test::kNoCorpus;
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    for (const char* name : {"host", "guest"}) {
      auto trace =
          state::StubTrace::open(*corpus + "/vm-stubs/vm/OneQemuKvm/" + name + ".xml", name);
      ASSERT_TRUE(trace);
      traces_.push_back(*std::move(trace));
    }
    database_ = *Database::open(traces_, [] { return TimeFrame{}; });
    Pass pass(traces_);
    begin_ = pass.span().begin.count;
    end_ = pass.span().end.count;
    int64_t before = begin_;
    pass.at_event = [&](const trace::Event& event, size_t, const state::Engine&) {
      for (; before < event.time.count; ++before) truth_[before] = moment_of(pass);
      return true;
    };
    pass.run();
  }

  // The rows of a question, each from its begin, up to its end, as text.
  std::map<int64_t, std::string> spread(const std::string& sql) {
    std::istringstream lines(ask(*database_, sql));
    std::map<int64_t, std::string> at;
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      int64_t begin = 0;
      int64_t end = 0;
      char comma = 0;
      std::string rest;
      std::istringstream fields(line);
      fields >> begin >> comma >> end >> comma;
      std::getline(fields, rest);
      for (int64_t t = begin; t < end; ++t) EXPECT_TRUE(at.emplace(t, rest).second) << t;
    }
    return at;
  }

  test::TemporaryFolder folder_;
  Traces traces_;
  std::unique_ptr<Database> database_;
  std::map<int64_t, Moment> truth_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
};

TEST_F(FusedTables, APhysicalCpuRanWhatFusionKnewAtEveryMoment) {
  const auto rows =
      spread("SELECT begin, end, runs || ' ' || coalesce(tid, '') || ' ' || mode FROM fused_cpu");
  size_t guests = 0;
  for (const auto& [t, moment] : truth_) {
    ASSERT_TRUE(rows.contains(t)) << t;
    ASSERT_EQ(rows.at(t), moment.physical) << t;
    guests += moment.physical.starts_with("guest") ? 1 : 0;
  }
  EXPECT_GT(guests, 50u);
}

TEST_F(FusedTables, AGuestsTaskWasWhatFusionKnewAtEveryMoment) {
  const auto rows = spread("SELECT begin, end, coalesce(tid, '') || ' ' || state FROM fused_state");
  size_t compared = 0;
  for (const auto& [t, moment] : truth_) {
    // Before the host's first entry, and the guest's first event.
    if (moment.guest.empty() || moment.guest.starts_with(' ') || !rows.contains(t)) continue;
    ASSERT_EQ(rows.at(t), moment.guest) << t;
    ++compared;
  }
  EXPECT_GT(compared, 300u);
}

TEST_F(FusedTables, ConditionsOnTimeLeaveTheRowsAsTheyAre) {
  for (const char* table : {"fused_cpu", "fused_state"}) {
    const std::string columns = std::string("SELECT begin, end, machine, cpu, tid FROM ") + table;
    const std::string all = ask(*database_, columns + " ORDER BY begin");
    std::string found = all.substr(0, all.find('\n') + 1);
    std::set<std::string> seen;
    for (int64_t t = begin_; t < end_; t += 7) {
      const std::string part =
          ask(*database_, columns + " WHERE begin < " + std::to_string(t + 7) + " AND end > " +
                              std::to_string(t) + " ORDER BY begin");
      std::istringstream lines(part);
      std::string line;
      std::getline(lines, line);
      while (std::getline(lines, line))
        if (seen.insert(line).second) found += line + '\n';
    }
    EXPECT_EQ(found, all) << table;
  }
  EXPECT_EQ(ask(*database_, "SELECT count(*) FROM fused_cpu WHERE cpu = 7"), "count(*)\n0\n");
  EXPECT_EQ(ask(*database_, "SELECT count(*) FROM fused_cpu WHERE machine = 'guest'"),
            "count(*)\n0\n");
  EXPECT_NE(ask(*database_, "SELECT count(*) FROM fused_state WHERE machine = 'guest'"),
            "count(*)\n0\n");
}

}  // namespace
}  // namespace strata::query
