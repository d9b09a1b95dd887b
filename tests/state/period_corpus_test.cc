// SPDX-License-Identifier: Apache-2.0
//
// Traces that others recorded, cut into periods: together they are the whole.
#include <gtest/gtest.h>

#include "period/json.h"
#include "recording/open.h"
#include "state/kernel_traces.h"
#include "state/pass.h"
#include "state/period_sums.h"
#include "support/corpus.h"

namespace strata::state {
namespace {

using Traces = std::vector<std::unique_ptr<trace::Trace>>;

class PeriodsOfCorpus : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!test::corpus()) GTEST_SKIP() << test::kNoCorpus;
    Result<Traces> traces = recording::open_traces(*test::corpus() + '/' + GetParam());
    ASSERT_TRUE(traces) << traces.error().text();
    traces_ = *std::move(traces);
  }

  // The whole in so many periods.
  void expect_the_whole(int64_t periods) {
    SCOPED_TRACE(periods);
    Pass pass(traces_);
    const int64_t span = pass.span().end.count - pass.span().begin.count;
    const int64_t length = std::max<int64_t>(span / periods, 1);
    pass.periods = {Nanoseconds{length}, "clock"};
    std::optional<period::Table> sum;
    size_t tables = 0;
    int64_t last_end = pass.span().begin.count;
    pass.at_period = [&](period::Table&& table) {
      ++tables;
      EXPECT_EQ(table.begin, last_end);
      EXPECT_GT(table.length(), 0);
      last_end = table.end;
      for (const period::Machine& machine : table.machines) expect_consistent(machine, table);
      if (!sum)
        sum = std::move(table);
      else
        EXPECT_TRUE(sum->append(table));
      return true;
    };
    pass.run();
    ASSERT_TRUE(sum);
    EXPECT_EQ(last_end, pass.span().end.count);
    EXPECT_LE(tables, static_cast<size_t>(periods) + 2);
    EXPECT_GT(tables, periods > 1 ? 2u : 0u);
    for (size_t i = 0; i < pass.machines().size(); ++i) {
      const PeriodSums sums(sum->machines.at(i), *pass.machines()[i].engine);
      EXPECT_EQ(sums.difference(), "");
      EXPECT_FALSE(sum->machines[i].cpus.empty());
    }
    // Cutting changes nothing of the whole.
    Pass plain(traces_);
    plain.run();
    for (size_t i = 0; i < pass.machines().size(); ++i) {
      const Engine& with = *pass.machines()[i].engine;
      const Engine& without = *plain.machines()[i].engine;
      for (size_t cpu = 0; cpu < with.cpus().size(); ++cpu)
        EXPECT_EQ(with.cpus()[cpu].ns, without.cpus()[cpu].ns);
      ASSERT_EQ(with.tasks().size(), without.tasks().size());
      for (TaskId id = 0; id < with.tasks().size(); ++id)
        EXPECT_EQ(with.tasks()[id].ns, without.tasks()[id].ns);
    }
  }

  // Every CPU does something all the time, and so does every task while it is there.
  static void expect_consistent(const period::Machine& machine, const period::Table& table) {
    const auto length = static_cast<uint64_t>(table.length());
    for (const period::CpuRow& row : machine.cpus) {
      uint64_t sum = 0;
      for (const period::Column column : period::CpuRow::Values::kOrder)
        if (period::is_time(column) && column != period::Column::UnknownTask)
          sum += row.values[column];
      EXPECT_EQ(sum, length);
    }
    for (const period::TaskRow& row : machine.tasks) {
      uint64_t sum = 0;
      for (const period::Column column : period::TaskRow::Values::kOrder)
        if (period::is_task_state(column)) sum += row.values[column];
      const auto there = static_cast<uint64_t>(table.end - std::max(table.begin, row.start));
      if (row.state)
        EXPECT_EQ(sum, there) << row.tid;
      else
        EXPECT_LE(sum, there) << row.tid;
    }
  }

  Traces traces_;
};

TEST_P(PeriodsOfCorpus, AddUpToTheWholeToTheNanosecond) {
  expect_the_whole(1);
  expect_the_whole(37);
  expect_the_whole(1000);
}

TEST_P(PeriodsOfCorpus, AreReadBackFromTheirLines) {
  Pass pass(traces_);
  const int64_t span = pass.span().end.count - pass.span().begin.count;
  pass.periods = {Nanoseconds{span / 10 + 1}, "clock"};
  size_t tables = 0;
  pass.at_period = [&](period::Table&& table) {
    TextBuffer out;
    period::put_json(table, out);
    const Result<period::Table> again = period::table_from_json(out.view());
    EXPECT_TRUE(again) << again.error().text();
    EXPECT_TRUE(again && *again == table);
    ++tables;
    return true;
  };
  pass.run();
  EXPECT_GT(tables, 3u);
}

INSTANTIATE_TEST_SUITE_P(Traces, PeriodsOfCorpus, testing::ValuesIn(kKernelTraces),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace strata::state
