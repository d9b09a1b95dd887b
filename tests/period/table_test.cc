// SPDX-License-Identifier: Apache-2.0
#include "period/table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <set>

#include "period/tables.h"

namespace strata::period {
namespace {

Table one(int64_t begin, int64_t end, std::vector<TaskRow> tasks) {
  Table table{.begin = begin, .end = end};
  table.machines.push_back(Machine{.name = "m", .tasks = std::move(tasks)});
  return table;
}

TEST(Columns, HaveNamesOfTheirOwnAndMeanings) {
  std::set<std::string_view> names;
  for (const ColumnInfo& info : kColumns) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.meaning.empty()) << info.name;
    EXPECT_FALSE(info.heading.empty()) << info.name;
    EXPECT_EQ(column_called(info.name), info.id);
    EXPECT_EQ(info.name.ends_with("_ns"), info.unit == Unit::Nanoseconds) << info.name;
    EXPECT_EQ(info.name.ends_with("_bytes"), info.unit == Unit::Bytes) << info.name;
  }
  EXPECT_EQ(column_called("colour"), std::nullopt);
  EXPECT_EQ(state_name(Column::WaitDisk), "wait-disk");
}

TEST(Columns, AreAllInTheDocumentation) {
  std::ifstream file(STRATA_SOURCE_DIR "/docs/period.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const ColumnInfo& info : kColumns) {
    std::string line = "| `" + std::string(info.name) + "` | ";
    EXPECT_NE(text.find(line += name_of(info.unit)), std::string::npos) << info.name;
    EXPECT_NE(text.find(info.meaning), std::string::npos) << info.name;
  }
}

TEST(Histogram, CountsInPowersOfTwo) {
  Histogram histogram;
  for (const uint64_t ns : {0u, 1u, 2u, 3u, 4u, 1023u, 1024u}) histogram.add(ns);
  histogram.add(std::numeric_limits<uint64_t>::max() / 2);
  EXPECT_EQ(histogram.count, 8u);
  EXPECT_EQ(histogram.buckets[0], 1u);
  EXPECT_EQ(histogram.buckets[1], 1u);
  EXPECT_EQ(histogram.buckets[2], 2u);
  EXPECT_EQ(histogram.buckets[3], 1u);
  EXPECT_EQ(histogram.buckets[10], 1u);
  EXPECT_EQ(histogram.buckets[11], 1u);
  EXPECT_EQ(histogram.buckets[Histogram::kBuckets - 1], 1u);
  EXPECT_EQ(histogram.below_ns(0.5), 4u);
  EXPECT_EQ(histogram.below_ns(0.75), 1024u);
}

TEST(Histogram, HasAnEndHoweverManyThereAre) {
  Histogram histogram;
  histogram.count = histogram.buckets[3] = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(histogram.below_ns(0.99), 8u);
  EXPECT_EQ(histogram.below_ns(1), 8u);
}

TEST(Table, AppendsOnlyWhatFollows) {
  Table table = one(0, 100, {});
  EXPECT_FALSE(table.append(one(101, 200, {})));
  EXPECT_EQ(table.end, 100);
  EXPECT_TRUE(table.append(one(100, 200, {})));
  EXPECT_EQ(table.length(), 200);
}

TEST(Table, ATaskWithoutARowGoesOnWithWhatItDid) {
  Table table = one(0, 100, {sleeper(7, 90, 10)});
  ASSERT_TRUE(table.append(one(100, 300, {})));
  ASSERT_TRUE(table.append(one(300, 400, {sleeper(7, 50, 50)})));
  const TaskRow& row = table.machines[0].tasks.at(0);
  EXPECT_EQ(row.values[Column::WaitTimer], 90u + 200 + 50);
  EXPECT_EQ(row.values[Column::User], 60u);
  EXPECT_EQ(row.on_cpu_ns(), 60u);
  EXPECT_EQ(row.blocked_ns(), 340u);
}

TEST(Table, ATaskThatComesLaterDidBeforeWhatItsRowSays) {
  Table table = one(0, 100, {});
  ASSERT_TRUE(table.append(one(100, 200, {sleeper(7, 60, 40)})));
  EXPECT_EQ(table.machines[0].tasks.at(0).values[Column::WaitTimer], 95u + 60)
      << "it was made at 5";
  TaskRow born = sleeper(8, 20, 30);
  born.start = 250;
  born.was_born = true;
  born.state_before = std::nullopt;
  ASSERT_TRUE(table.append(one(200, 300, {born})));
  EXPECT_EQ(table.machines[0].tasks.at(1).values[Column::WaitTimer], 20u);
  EXPECT_TRUE(table.machines[0].tasks.at(1).was_born);
}

TEST(Table, ADeadTaskDoesNotGoOn) {
  TaskRow ended = sleeper(7, 60, 40);
  ended.has_ended = true;
  ended.exit_code = 3;
  ended.state = std::nullopt;
  Table table = one(0, 100, {ended});
  ASSERT_TRUE(table.append(one(100, 200, {})));
  EXPECT_EQ(table.machines[0].tasks.at(0).values[Column::WaitTimer], 60u);
  EXPECT_EQ(table.machines[0].tasks.at(0).exit_code, 3u);
}

TEST(Table, AThreadsIdThatComesAgainIsAnotherTask) {
  TaskRow again = sleeper(7, 1, 1);
  again.start = 150;
  Table table = one(0, 100, {sleeper(7, 60, 40)});
  ASSERT_TRUE(table.append(one(100, 200, {again})));
  EXPECT_EQ(table.machines[0].tasks.size(), 2u);
}

TEST(Table, ACorrectionIsAppliedAsFarAsItConcernsTheTable) {
  TaskRow waits = sleeper(7, 0, 20);
  waits.state = Column::WaitOther;
  waits.values.set(Column::WaitOther, 80);
  TaskRow woken = sleeper(7, 0, 70);
  woken.state_before = Column::WaitOther;
  woken.values.set(Column::WaitPipe, 30);
  woken.corrections = {{-50, 100, Column::WaitOther, Column::WaitPipe}};
  Table table = one(0, 100, {waits});
  ASSERT_TRUE(table.append(one(100, 200, {woken})));
  const TaskRow& row = table.machines[0].tasks.at(0);
  EXPECT_EQ(row.values[Column::WaitOther], 0u) << "there was no more";
  EXPECT_EQ(row.values[Column::WaitPipe], 80u + 30);
  EXPECT_EQ(row.corrections, (Corrections{{-50, 0, Column::WaitOther, Column::WaitPipe}}));
}

TEST(Table, WhatOnlyOnePeriodKnowsIsEstimated) {
  Table table = one(0, 100, {});
  Table next = one(100, 200, {});
  next.machines[0].marks.set(RowKind::Task, Column::User, Certainty::Unknown);
  next.machines[0].marks.set(RowKind::Task, Column::Faults, Certainty::Unknown);
  table.machines[0].marks.set(RowKind::Task, Column::Faults, Certainty::Unknown);
  ASSERT_TRUE(table.append(next));
  EXPECT_EQ(table.machines[0].marks.of(RowKind::Task, Column::User), Certainty::Estimated);
  EXPECT_EQ(table.machines[0].marks.of(RowKind::Task, Column::Faults), Certainty::Unknown);
  EXPECT_EQ(table.machines[0].marks.of(RowKind::Task, Column::Syscall), Certainty::Exact);
}

TEST(Table, AddsUpAllKindsOfRows) {
  Table table = full_table(0, 100);
  ASSERT_TRUE(table.append(full_table(100, 200)));
  const Machine& machine = table.machines.at(0);
  EXPECT_EQ(machine.values[Column::Events], 2468u);
  EXPECT_EQ(machine.values[Column::User], 110u) << "10 of them turned out to be unknown";
  EXPECT_EQ(machine.values[Column::Unknown], 10u);
  EXPECT_EQ(machine.vms.at(0).values[Column::Guest], 200u);
  EXPECT_EQ(machine.exits.at(0).values[Column::Exits], 4u);
  EXPECT_EQ(machine.files.at(0).values[Column::ReadBytes], 8192u);
  EXPECT_EQ(machine.devices.at(0).values[Column::Busy], 100u);
  EXPECT_EQ(machine.devices.at(0).values[Column::InFlight], 1u) << "at the end";
  EXPECT_EQ(machine.interfaces.at(0).values[Column::PacketsIn], 10u);
  EXPECT_EQ(machine.latencies.at(0).histogram.count, 4u);
  EXPECT_EQ(machine.tasks.at(0).values[Column::Memory], kUnknownCell);
}

TEST(Table, WhatWatchingCostsIsNoTimeOfACpu) {
  const auto watched = [](int64_t begin, int64_t end) {
    Table table = one(begin, end, {});
    Machine& machine = table.machines.front();
    machine.cpus.emplace_back(CpuRow{.number = 0}).values.set(Column::Idle, 90);
    machine.values.set(Column::Observer, 7);
    machine.values.set(Column::Observing, 20);
    machine.add_up();
    return table;
  };
  Table table = watched(0, 100);
  EXPECT_EQ(table.machines[0].values[Column::Observer], 7u);
  ASSERT_TRUE(table.append(watched(100, 200)));
  EXPECT_EQ(table.machines[0].values[Column::Observer], 14u);
  EXPECT_EQ(table.machines[0].values[Column::Observing], 40u);
  EXPECT_EQ(table.machines[0].values[Column::Idle], 180u);
}

TEST(Table, AMachineThatIsNotThereDidNothingNew) {
  Table table = full_table(0, 100);
  ASSERT_TRUE(table.append(Table{.begin = 100, .end = 200}));
  EXPECT_EQ(table.machines.at(0).values[Column::Events], 1234u);
  EXPECT_EQ(table.machines.at(0).devices.at(0).values[Column::InFlight], 1u);
}

TEST(Table, SumsThatDoNotFitStayAtTheEnd) {
  TaskRow row = sleeper(7, kUnknownCell - 5, 0);
  Table table = one(0, 100, {row});
  ASSERT_TRUE(table.append(one(100, 200, {row})));
  EXPECT_EQ(table.machines[0].tasks.at(0).values[Column::WaitTimer], kUnknownCell - 1);
}

}  // namespace
}  // namespace strata::period
