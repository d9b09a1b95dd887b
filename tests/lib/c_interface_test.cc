// SPDX-License-Identifier: Apache-2.0
//
// The C interface, beside the tables that it gives.
#include <gtest/gtest.h>
#include <poll.h>
#include <strata/strata.h>

#include <fstream>
#include <memory>

#include "period/json.h"
#include "period/tables.h"
#include "support/temporary_folder.h"

namespace strata::lib {
namespace {

struct Free {
  void operator()(strata_feed* feed) const { strata_feed_close(feed); }
  void operator()(strata_table* table) const { strata_table_free(table); }
};
using Feed = std::unique_ptr<strata_feed, Free>;
using Table = std::unique_ptr<strata_table, Free>;

Feed feed_of(const std::vector<std::string>& paths) {
  std::vector<const char*> list;
  for (const std::string& path : paths) list.push_back(path.c_str());
  char why[STRATA_WHY] = "";
  Feed feed(strata_feed_open(list.data(), list.size(), 1'000'000, why, sizeof why));
  EXPECT_TRUE(feed) << why;
  return feed;
}

Table next_of(const Feed& feed) {
  strata_table* table = nullptr;
  EXPECT_EQ(strata_feed_next(feed.get(), &table), 1) << strata_feed_problem(feed.get());
  return Table(table);
}

// A file with a table that has some of everything, and its feed.
class FullTable : public testing::Test {
 protected:
  FullTable() {
    TextBuffer line;
    put_json(period::full_table(1000, 1100), line);
    std::ofstream(path_) << line.view();
    feed_ = feed_of({path_});
    table_ = next_of(feed_);
  }

  strata_row row(strata_kind kind, size_t number = 0) const {
    return strata_table_row(table_.get(), 0, kind, number);
  }
  static uint64_t value(strata_row row, const char* column, strata_certainty certainty) {
    strata_certainty how{};
    const uint64_t value = strata_row_value(row, strata_column(column), &how);
    EXPECT_EQ(how, certainty) << column;
    return value;
  }
  static int64_t number(strata_row row, const char* field) {
    int64_t number = -77;
    EXPECT_EQ(strata_row_number(row, field, &number), 1) << field;
    return number;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/saved";
  Feed feed_;
  Table table_;
};

TEST_F(FullTable, HasItsTimes) {
  EXPECT_EQ(strata_table_begin(table_.get()), 1000);
  EXPECT_EQ(strata_table_end(table_.get()), 1100);
  EXPECT_STREQ(strata_table_clock(table_.get()), "epoch");
  EXPECT_EQ(strata_table_machines(table_.get()), 1u);
}

TEST_F(FullTable, GivesValuesAndHowFarToBelieveThem) {
  EXPECT_EQ(value(row(STRATA_ROW_MACHINE), "events", STRATA_EXACT), 1234u);
  EXPECT_EQ(value(row(STRATA_ROW_CPU), "user_ns", STRATA_EXACT), 60u);
  EXPECT_EQ(value(row(STRATA_ROW_CPU), "frequency_khz", STRATA_UNKNOWN), 0u);
  EXPECT_EQ(value(row(STRATA_ROW_TASK), "wait_other_ns", STRATA_ESTIMATED), 0u);
  EXPECT_EQ(value(row(STRATA_ROW_TASK), "memory_bytes", STRATA_UNKNOWN), 0u)
      << "not known in this row";
  EXPECT_EQ(value(row(STRATA_ROW_DESCRIPTOR), "written_bytes", STRATA_EXACT), 17u);
  EXPECT_EQ(value(row(STRATA_ROW_FILE), "user_ns", STRATA_EXACT), 0u) << "files have no such column";
}

TEST_F(FullTable, GivesWhatElseARowHas) {
  EXPECT_STREQ(strata_row_text(row(STRATA_ROW_MACHINE), "name"), "host \"one\"");
  const strata_row task = row(STRATA_ROW_TASK);
  EXPECT_EQ(number(task, "tid"), 7);
  EXPECT_EQ(number(task, "user"), 0);
  EXPECT_EQ(number(task, "exit_signal"), 9);
  EXPECT_EQ(number(task, "kernel"), 1);
  EXPECT_STREQ(strata_row_text(task, "container"), "web");
  EXPECT_STREQ(strata_row_text(task, "state"), "wait-timer");
  EXPECT_STREQ(strata_row_text(row(STRATA_ROW_FILE), "identity"), "inode");
  EXPECT_STREQ(strata_row_text(row(STRATA_ROW_DESCRIPTOR), "name"), "[::1]:80");
}

TEST_F(FullTable, HasNothingWhereThereIsNothing) {
  int64_t number = 5;
  EXPECT_EQ(strata_row_number(row(STRATA_ROW_TASK), "name", &number), 0) << "a text";
  EXPECT_EQ(strata_row_number(row(STRATA_ROW_TASK), "no such field", &number), 0);
  EXPECT_EQ(number, 5);
  EXPECT_EQ(strata_row_text(row(STRATA_ROW_TASK), "pid"), nullptr) << "a number";
  EXPECT_EQ(strata_row_text(row(STRATA_ROW_TASK, 99), "name"), nullptr);
  EXPECT_EQ(strata_row_value(row(STRATA_ROW_TASK, 99), strata_column("user_ns"), nullptr), 0u);
  EXPECT_EQ(strata_row_value(row(STRATA_ROW_TASK), -1, nullptr), 0u);
  EXPECT_EQ(strata_row_value(row(STRATA_ROW_TASK), 1000, nullptr), 0u);
  const auto no_kind = static_cast<strata_kind>(12);
  EXPECT_EQ(strata_row_value(row(no_kind), strata_column("user_ns"), nullptr), 0u);
  EXPECT_EQ(strata_table_rows(table_.get(), 0, no_kind), 0u);
  EXPECT_EQ(strata_table_rows(table_.get(), 1, STRATA_ROW_TASK), 0u);
  const strata_row elsewhere = strata_table_row(table_.get(), 1, STRATA_ROW_MACHINE, 0);
  EXPECT_EQ(strata_row_text(elsewhere, "name"), nullptr);
  uint64_t count = 0, sum = 0;
  EXPECT_EQ(strata_row_histogram(row(STRATA_ROW_TASK), &count, &sum), nullptr);
}

TEST_F(FullTable, HasAsManyRowsAsTheTable) {
  const period::Table told = period::full_table(1000, 1100);
  const period::Machine& machine = told.machines.front();
  EXPECT_EQ(strata_table_rows(table_.get(), 0, STRATA_ROW_MACHINE), 1u);
  EXPECT_EQ(strata_table_rows(table_.get(), 0, STRATA_ROW_TASK), machine.tasks.size());
  EXPECT_EQ(strata_table_rows(table_.get(), 0, STRATA_ROW_LATENCY), machine.latencies.size());
  ASSERT_FALSE(machine.latencies.empty());
  uint64_t count = 0, sum = 0;
  const uint64_t* const buckets = strata_row_histogram(row(STRATA_ROW_LATENCY), &count, &sum);
  ASSERT_NE(buckets, nullptr);
  const period::Histogram& histogram = machine.latencies.front().histogram;
  EXPECT_EQ(count, histogram.count);
  EXPECT_EQ(sum, histogram.sum_ns);
  EXPECT_TRUE(std::equal(histogram.buckets.begin(), histogram.buckets.end(), buckets));
}

TEST_F(FullTable, EndsBehindTheLastTable) {
  strata_table* table = nullptr;
  EXPECT_EQ(strata_feed_next(feed_.get(), &table), 0);
  EXPECT_EQ(table, nullptr);
}

TEST_F(FullTable, CanAlwaysBeReadWhereNothingIsWaitedFor) {
  pollfd one{strata_feed_descriptor(feed_.get(), 1'000'000), POLLIN, 0};
  EXPECT_GE(one.fd, 0);
  EXPECT_EQ(poll(&one, 1, 0), 1);
  EXPECT_EQ(strata_feed_descriptor(feed_.get(), 0), -1);
  EXPECT_STREQ(strata_feed_problem(feed_.get()), "a period takes longer than nothing");
}

TEST(CInterface, NamesItsColumns) {
  const int user = strata_column("user_ns");
  EXPECT_STREQ(strata_column_name(user), "user_ns");
  EXPECT_STREQ(strata_column_unit(user), "ns");
  EXPECT_STREQ(strata_column_meaning(user), "in a program's own code");
  EXPECT_EQ(strata_column("user"), -1);
  EXPECT_EQ(strata_column_name(-1), nullptr);
  int count = 0;
  while (strata_column_name(count) != nullptr) ++count;
  EXPECT_EQ(count, static_cast<int>(period::kColumnCount));
}

TEST(CInterface, SaysWhyAFeedDoesNotOpen) {
  char why[STRATA_WHY];
  const char* const path = "/nowhere/at/all";
  EXPECT_EQ(strata_feed_open(&path, 1, 1'000'000, why, sizeof why), nullptr);
  EXPECT_NE(std::string(why).find(path), std::string::npos) << why;
  char little[6];
  EXPECT_EQ(strata_feed_open(&path, 1, 1'000'000, little, sizeof little), nullptr);
  EXPECT_STREQ(little, "/nowh");
  EXPECT_EQ(strata_feed_open_machine("cpu,disk", why, sizeof why), nullptr);
  EXPECT_NE(std::string(why).find("'disk' is none of cpu, calls"), std::string::npos) << why;
}

TEST(CInterface, TellsWhatATraceHasNot) {
  const Feed feed = feed_of({STRATA_SOURCE_DIR "/samples/first.dat"});
  EXPECT_EQ(strata_feed_want(feed.get(), "vm"), -1);
  EXPECT_NE(std::string(strata_feed_problem(feed.get())), "");
  EXPECT_EQ(strata_feed_want(feed.get(), "cpu"), 0);
  size_t count = 0;
  while (strata_feed_shortfall(feed.get(), count) != nullptr) ++count;
  EXPECT_LT(count, 10u);
}

}  // namespace
}  // namespace strata::lib
