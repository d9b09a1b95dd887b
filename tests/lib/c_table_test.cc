// SPDX-License-Identifier: Apache-2.0
//
// Tables through the C interface, beside those that were saved.
#include <poll.h>

#include <fstream>
#include <regex>
#include <set>

#include "lib/c_handles.h"
#include "period/fields.h"
#include "period/tables.h"
#include "support/temporary_folder.h"

namespace strata::lib {
namespace {

// The names that docs/library.md has for rows of a kind: numbers, then texts.
std::pair<std::set<std::string>, std::set<std::string>> documented(const std::string& kind) {
  std::ifstream file(STRATA_SOURCE_DIR "/docs/library.md");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `" + kind + "` |")) continue;
    const size_t numbers = line.find('|', 2), texts = line.find('|', numbers + 1);
    const auto names_in = [](const std::string& cell) {
      std::set<std::string> names;
      const std::regex name("`([a-z_]+)`");
      for (std::sregex_iterator at(cell.begin(), cell.end(), name); at != std::sregex_iterator();
           ++at)
        names.insert((*at)[1]);
      return names;
    };
    return {names_in(line.substr(numbers, texts - numbers)), names_in(line.substr(texts))};
  }
  return {};
}

// A file with a table that has some of everything, and its feed.
class FullTable : public testing::Test {
 protected:
  FullTable() {
    std::ofstream(path_) << line_of(told_);
    feed_ = feed_of(path_);
    table_ = next_of(feed_);
  }

  strata_row row(int kind, size_t number = 0) const {
    return strata_table_row(table_.get(), 0, kind, number);
  }
  static uint64_t value(strata_row row, const char* column, int certainty) {
    EXPECT_EQ(strata_row_certainty(row, strata_column(column)), certainty) << column;
    return strata_row_value(row, strata_column(column));
  }
  static int64_t number(strata_row row, const char* field) {
    int64_t number = -77;
    EXPECT_EQ(strata_row_number(row, field, &number), 1) << field;
    return number;
  }

  const period::Table told_ = period::full_table(1000, 1100);
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
  EXPECT_EQ(value(row(STRATA_ROW_MACHINE), "user_ns", STRATA_ESTIMATED), 60u);
  EXPECT_EQ(value(row(STRATA_ROW_CPU), "user_ns", STRATA_EXACT), 60u);
  EXPECT_EQ(value(row(STRATA_ROW_CPU), "frequency_khz", STRATA_UNKNOWN), 0u);
  EXPECT_EQ(value(row(STRATA_ROW_TASK), "wait_other_ns", STRATA_ESTIMATED), 0u);
  EXPECT_EQ(value(row(STRATA_ROW_TASK), "memory_bytes", STRATA_UNKNOWN), 0u)
      << "not known in this row";
  EXPECT_EQ(value(row(STRATA_ROW_VM), "guest_ns", STRATA_EXACT), 100u);
  EXPECT_EQ(value(row(STRATA_ROW_DESCRIPTOR), "written_bytes", STRATA_EXACT), 17u);
  EXPECT_EQ(value(row(STRATA_ROW_FILE), "user_ns", STRATA_UNKNOWN), 0u) << "files have none";
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
  EXPECT_STREQ(strata_row_text(row(STRATA_ROW_LATENCY), "what"), "syscall");
}

TEST_F(FullTable, HasTheFieldsThatAreDocumented) {
  const char* const kinds[] = {"MACHINE", "CPU",        "TASK",   "VM",        "VCPU",   "EXIT",
                               "FILE",    "DESCRIPTOR", "DEVICE", "INTERFACE", "LATENCY"};
  for (int kind = 0; kind <= STRATA_ROW_LATENCY; ++kind) {
    const auto [numbers, texts] = documented(std::string("STRATA_ROW_") + kinds[kind]);
    EXPECT_FALSE(numbers.empty() && texts.empty()) << kinds[kind];
    int64_t number = 0;
    for (const std::string& name : numbers)
      EXPECT_EQ(strata_row_number(row(kind), name.c_str(), &number), 1) << kinds[kind] << name;
    for (const std::string& name : texts)
      EXPECT_NE(strata_row_text(row(kind), name.c_str()), nullptr) << kinds[kind] << name;
  }
}

TEST_F(FullTable, DocumentsAllFields) {
  std::set<std::string> told;
  const auto tell = [&](std::string_view name, const auto&) { told.insert(std::string(name)); };
  const auto [numbers, texts] = documented("STRATA_ROW_TASK");
  each_field(told_.machines.front().tasks.front(), tell);
  std::set<std::string> names = numbers;
  names.insert(texts.begin(), texts.end());
  EXPECT_EQ(names, told);
}

TEST_F(FullTable, HasNothingWhereThereIsNothing) {
  int64_t number = 5;
  EXPECT_EQ(strata_row_number(row(STRATA_ROW_TASK), "name", &number), 0) << "a text";
  EXPECT_EQ(strata_row_number(row(STRATA_ROW_TASK), "no such field", &number), 0);
  EXPECT_EQ(number, 5);
  EXPECT_EQ(strata_row_text(row(STRATA_ROW_TASK), "pid"), nullptr) << "a number";
  EXPECT_EQ(strata_row_text(row(STRATA_ROW_TASK, 99), "name"), nullptr);
  EXPECT_EQ(strata_row_text(row(STRATA_ROW_MACHINE, 1), "name"), nullptr);
  EXPECT_EQ(strata_row_value(row(STRATA_ROW_TASK, 99), strata_column("user_ns")), 0u);
  EXPECT_EQ(strata_row_value(row(STRATA_ROW_TASK), -1), 0u);
  EXPECT_EQ(strata_row_value(row(STRATA_ROW_TASK), 1000), 0u);
  EXPECT_EQ(strata_row_certainty(row(STRATA_ROW_TASK), 1000), STRATA_UNKNOWN);
  for (const int no_kind : {-1, STRATA_ROW_LATENCY + 1, 1'000'000}) {
    EXPECT_EQ(strata_row_value(row(no_kind), strata_column("user_ns")), 0u);
    EXPECT_EQ(strata_table_rows(table_.get(), 0, no_kind), 0u);
  }
  EXPECT_EQ(strata_table_rows(table_.get(), 1, STRATA_ROW_TASK), 0u);
  EXPECT_EQ(strata_table_rows(table_.get(), 1, STRATA_ROW_MACHINE), 0u);
  const strata_row elsewhere = strata_table_row(table_.get(), 1, STRATA_ROW_MACHINE, 0);
  EXPECT_EQ(strata_row_text(elsewhere, "name"), nullptr);
  EXPECT_EQ(strata_row_histogram(row(STRATA_ROW_TASK), nullptr, nullptr), nullptr);
}

TEST_F(FullTable, HasAsManyRowsAsTheTable) {
  const period::Machine& machine = told_.machines.front();
  const std::pair<int, size_t> sizes[] = {{STRATA_ROW_MACHINE, 1},
                                          {STRATA_ROW_CPU, machine.cpus.size()},
                                          {STRATA_ROW_TASK, machine.tasks.size()},
                                          {STRATA_ROW_VM, machine.vms.size()},
                                          {STRATA_ROW_VCPU, machine.vcpus.size()},
                                          {STRATA_ROW_EXIT, machine.exits.size()},
                                          {STRATA_ROW_FILE, machine.files.size()},
                                          {STRATA_ROW_DESCRIPTOR, machine.descriptors.size()},
                                          {STRATA_ROW_DEVICE, machine.devices.size()},
                                          {STRATA_ROW_INTERFACE, machine.interfaces.size()},
                                          {STRATA_ROW_LATENCY, machine.latencies.size()}};
  for (const auto& [kind, size] : sizes) {
    EXPECT_GT(size, 0u) << kind;
    EXPECT_EQ(strata_table_rows(table_.get(), 0, kind), size) << kind;
  }
}

TEST_F(FullTable, HasHistograms) {
  uint64_t count = 0, sum = 0;
  const uint64_t* const buckets = strata_row_histogram(row(STRATA_ROW_LATENCY), &count, &sum);
  ASSERT_NE(buckets, nullptr);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(sum, 1000u);
  for (size_t i = 0; i < STRATA_BUCKETS; ++i)
    EXPECT_EQ(buckets[i], i == 0 || i == 10 ? 1u : 0u) << i;
}

TEST_F(FullTable, CanBeAskedForEverything) { walk(table_.get()); }

TEST_F(FullTable, IsALineThatCanBeOpenedAgain) {
  EXPECT_EQ(strata_table_json(table_.get()), line_of(told_));
}

TEST_F(FullTable, IsAddedToTheOneThatFollows) {
  const period::Table after = period::full_table(1100, 1300);
  const std::string path = folder_.path() + "/after";
  std::ofstream(path) << line_of(after);
  const Table next = next_of(feed_of(path));
  ASSERT_NE(strata_table_json(table_.get()), nullptr);
  EXPECT_EQ(strata_table_add(table_.get(), next.get()), 0);
  period::Table sum = told_;
  ASSERT_TRUE(sum.append(after));
  EXPECT_EQ(strata_table_json(table_.get()), line_of(sum)) << "not the line from before";
  EXPECT_EQ(strata_table_add(table_.get(), next.get()), -1) << "it does not follow";
  EXPECT_EQ(strata_table_add(table_.get(), table_.get()), -1);
  EXPECT_EQ(strata_table_end(table_.get()), 1300);
}

TEST_F(FullTable, EndsBehindTheLastTableAndBeginsAgain) {
  strata_table* table = table_.get();
  EXPECT_EQ(strata_feed_next(feed_.get(), &table), 0);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(strata_feed_restart(feed_.get()), 0);
  EXPECT_EQ(strata_table_begin(next_of(feed_).get()), 1000);
}

TEST_F(FullTable, OutlivesItsFeed) {
  feed_.reset();
  EXPECT_STREQ(strata_row_text(row(STRATA_ROW_MACHINE), "name"), "host \"one\"");
}

TEST_F(FullTable, CanAlwaysBeReadWhereNothingIsWaitedFor) {
  pollfd one{strata_feed_descriptor(feed_.get(), kMillisecond), POLLIN, 0};
  ASSERT_GE(one.fd, 0);
  EXPECT_EQ(poll(&one, 1, 0), 1);
  strata_table* table = nullptr;
  EXPECT_EQ(strata_feed_next(feed_.get(), &table), 0);
  EXPECT_EQ(poll(&one, 1, 0), 1) << "at its end, too";
  EXPECT_EQ(strata_feed_descriptor(feed_.get(), 5 * kMillisecond), one.fd);
  EXPECT_EQ(strata_feed_descriptor(feed_.get(), 0), -1);
  EXPECT_STREQ(strata_feed_problem(feed_.get()), "a period takes longer than nothing");
}

TEST(Columns, HaveNumbersByTheirNames) {
  const int user = strata_column("user_ns");
  EXPECT_STREQ(strata_column_name(user), "user_ns");
  EXPECT_STREQ(strata_column_unit(user), "ns");
  EXPECT_STREQ(strata_column_meaning(user), "in a program's own code");
  EXPECT_EQ(strata_column("user"), -1);
  EXPECT_EQ(strata_column_name(-1), nullptr);
  int count = 0;
  for (; strata_column_name(count) != nullptr; ++count)
    EXPECT_EQ(strata_column(strata_column_name(count)), count);
  EXPECT_EQ(count, static_cast<int>(period::kColumnCount));
  EXPECT_EQ(strata_column_unit(count), nullptr);
  EXPECT_EQ(strata_column_meaning(count), nullptr);
}

}  // namespace
}  // namespace strata::lib
