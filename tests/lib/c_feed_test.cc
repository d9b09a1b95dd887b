// SPDX-License-Identifier: Apache-2.0
//
// Feeds through the C interface: how they open, end, and refuse.
#include <fstream>

#include "lib/c_handles.h"
#include "period/tables.h"
#include "support/temporary_folder.h"

namespace strata::lib {
namespace {

TEST(CFeed, SaysWhyAFeedDoesNotOpen) {
  char why[STRATA_WHY];
  const char* const path = "/nowhere/at/all";
  EXPECT_EQ(strata_feed_open(&path, 1, kMillisecond, why, sizeof why), nullptr);
  EXPECT_NE(std::string(why).find(path), std::string::npos) << why;
  EXPECT_EQ(strata_feed_open(&path, 0, kMillisecond, why, sizeof why), nullptr);
  EXPECT_STREQ(why, "there is no trace to open");
  const char* const sample = kSample.c_str();
  EXPECT_EQ(strata_feed_open(&sample, 1, 0, why, sizeof why), nullptr);
  EXPECT_STREQ(why, "a period takes longer than nothing");
  EXPECT_EQ(strata_feed_open_machine("cpu,disk", why, sizeof why), nullptr);
  EXPECT_NE(std::string(why).find("'disk' is none of cpu, calls"), std::string::npos) << why;
}

TEST(CFeed, CutsTheReasonWhereThereIsLittleRoom) {
  const char* const path = "/nowhere/at/all";
  char little[6] = "12345";
  EXPECT_EQ(strata_feed_open(&path, 1, kMillisecond, little, sizeof little), nullptr);
  EXPECT_STREQ(little, "/nowh");
  EXPECT_EQ(strata_feed_open(&path, 1, kMillisecond, little, 0), nullptr);
  EXPECT_STREQ(little, "/nowh") << "no room at all";
  EXPECT_EQ(strata_feed_open(&path, 1, kMillisecond, nullptr, 100), nullptr);
  const std::string long_path = '/' + std::string(3 * STRATA_WHY, 'x');
  const char* const name = long_path.c_str();
  char why[STRATA_WHY];
  EXPECT_EQ(strata_feed_open(&name, 1, kMillisecond, why, sizeof why), nullptr);
  EXPECT_EQ(std::string(why).size(), sizeof why - 1);
}

TEST(CFeed, TakesNullForWhatIsNotThere) {
  char why[STRATA_WHY] = "";
  EXPECT_EQ(strata_feed_open(nullptr, 1, kMillisecond, why, sizeof why), nullptr);
  EXPECT_STREQ(why, "a path is missing");
  const char* const paths[] = {kSample.c_str(), nullptr};
  EXPECT_EQ(strata_feed_open(paths, 2, kMillisecond, why, sizeof why), nullptr);
  EXPECT_EQ(strata_feed_open_machine(nullptr, why, sizeof why), nullptr);
  EXPECT_STREQ(why, "it is not said what to tell of");

  strata_table* table = nullptr;
  EXPECT_EQ(strata_feed_next(nullptr, &table), -1);
  EXPECT_EQ(strata_feed_descriptor(nullptr, 1), -1);
  EXPECT_EQ(strata_feed_want(nullptr, "cpu"), -1);
  EXPECT_EQ(strata_feed_restart(nullptr), -1);
  EXPECT_STREQ(strata_feed_problem(nullptr), "there is no feed");
  EXPECT_EQ(strata_feed_shortfall(nullptr, 0), nullptr);
  strata_feed_close(nullptr);
  const Feed feed = feed_of(kSample);
  EXPECT_EQ(strata_feed_next(feed.get(), nullptr), -1);
  EXPECT_STREQ(strata_feed_problem(feed.get()), "there is no place for a table");
  EXPECT_EQ(strata_feed_want(feed.get(), nullptr), -1);

  EXPECT_EQ(strata_table_begin(nullptr), 0);
  EXPECT_EQ(strata_table_end(nullptr), 0);
  EXPECT_STREQ(strata_table_clock(nullptr), "");
  const Table first = next_of(feed);
  EXPECT_EQ(strata_table_add(nullptr, first.get()), -1);
  EXPECT_EQ(strata_table_add(first.get(), nullptr), -1);
  EXPECT_EQ(strata_table_json(nullptr), nullptr);
  walk(nullptr);
  strata_table_free(nullptr);
  EXPECT_EQ(strata_column(nullptr), -1);
  const strata_row task = strata_table_row(first.get(), 0, STRATA_ROW_TASK, 0);
  EXPECT_EQ(strata_row_number(task, nullptr, nullptr), 0);
  EXPECT_EQ(strata_row_number(task, "tid", nullptr), 1) << "whether there is one";
  EXPECT_EQ(strata_row_text(task, nullptr), nullptr);
}

TEST(CFeed, GivesTheTablesOfATrace) {
  const Feed feed = feed_of(kSample);
  int64_t end = 0;
  size_t count = 0;
  strata_table* next = nullptr;
  for (; strata_feed_next(feed.get(), &next) == 1; ++count) {
    const Table table(next);
    EXPECT_TRUE(count == 0 || strata_table_begin(table.get()) == end) << count;
    end = strata_table_end(table.get());
    walk(table.get());
  }
  EXPECT_GT(count, 3u);
}

TEST(CFeed, TellsWhatATraceHasNot) {
  const Feed feed = feed_of(kSample);
  EXPECT_EQ(strata_feed_want(feed.get(), "vm"), -1);
  EXPECT_STREQ(strata_feed_problem(feed.get()), "vm: nothing of virtual machines was recorded");
  EXPECT_EQ(strata_feed_want(feed.get(), "cpu"), 0);
  bool says_so = false;
  size_t count = 0;
  while (const char* text = strata_feed_shortfall(feed.get(), count++))
    says_so = says_so || std::string_view(text) == "nothing of virtual machines was recorded";
  EXPECT_TRUE(says_so);
  EXPECT_EQ(strata_feed_shortfall(feed.get(), SIZE_MAX), nullptr);
}

// Wherever a recording is cut off or bytes are turned: what can be read, then the end or the
// reason.
TEST(CFeed, SurvivesDamagedRecordings) {
  std::ifstream file(kSample, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(whole.size(), 1000u);
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/damaged.dat";
  const char* const name = path.c_str();
  size_t told = 0;
  for (size_t i = 0; i < 60; ++i) {
    std::string damaged = whole;
    const size_t at = whole.size() * i / 60;
    if (i % 2 == 0)
      damaged.resize(at);
    else
      damaged.replace(at, std::min<size_t>(64, whole.size() - at), 64, '\xff');
    std::ofstream(path, std::ios::binary) << damaged;
    char why[STRATA_WHY] = "";
    const Feed feed(strata_feed_open(&name, 1, 100 * kMillisecond, why, sizeof why));
    if (!feed) {
      EXPECT_NE(std::string(why), "") << at;
      ++told;
      continue;
    }
    int status = 1;
    for (int tables = 0; status == 1 && tables < 100; ++tables) {
      strata_table* table = nullptr;
      status = strata_feed_next(feed.get(), &table);
      EXPECT_EQ(table != nullptr, status == 1);
      strata_table_free(table);
    }
    if (status == -1) {
      EXPECT_NE(std::string(strata_feed_problem(feed.get())), "") << at;
      ++told;
    }
  }
  EXPECT_GT(told, 30u);
}

TEST(CFeed, SaysWhichLineOfSavedOnesIsDamaged) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/saved";
  const std::string first = line_of(period::full_table(0, 10));
  std::ofstream(path) << first << line_of(period::full_table(10, 20)).substr(0, 300);
  const Feed feed = feed_of(path);
  next_of(feed);
  for (int again = 0; again < 2; ++again) {
    strata_table* table = nullptr;
    EXPECT_EQ(strata_feed_next(feed.get(), &table), -1);
    EXPECT_EQ(strata_feed_problem(feed.get()), path + ": at byte " + std::to_string(first.size()) +
                                                   ": the line is no JSON, or cut off");
  }
}

}  // namespace
}  // namespace strata::lib
