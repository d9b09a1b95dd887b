// SPDX-License-Identifier: Apache-2.0
//
// Feeds of traces and of saved lines, beside what `strata stats --period --json` prints.
#include <gtest/gtest.h>

#include <filesystem>

#include "lib/feeds.h"
#include "period/json.h"
#include "support/command.h"
#include "support/corpus.h"
#include "support/temporary_folder.h"

namespace strata::lib {
namespace {

using period::Group;
using period::Groups;

const std::string kSample = STRATA_SOURCE_DIR "/samples/first.dat";
constexpr Nanoseconds kMillisecond{1'000'000};

// The rest of a feed, as lines.
std::vector<std::string> rest_of(period::Feed& feed) {
  std::vector<std::string> lines;
  for (;;) {
    Result<std::optional<period::Table>> table = feed.next();
    EXPECT_TRUE(table) << table.error().text();
    if (!table || !*table) return lines;
    TextBuffer out;
    put_json(**table, out);
    lines.emplace_back(out.view().substr(0, out.view().size() - 1));
  }
}

std::string printed(const std::vector<std::string>& paths, Nanoseconds period) {
  std::vector<std::string> command = {STRATA_PROGRAM, "stats"};
  command.insert(command.end(), paths.begin(), paths.end());
  for (const std::string& word :
       {std::string("--json"), std::string("--period"), std::to_string(period.count) + "ns"})
    command.push_back(word);
  return test::run(command).output;
}

void expect_as_printed(const std::vector<std::string>& paths, Nanoseconds period) {
  const auto feed = open_feed(paths, period);
  ASSERT_TRUE(feed) << feed.error().text();
  const std::vector<std::string> tables = rest_of(**feed);
  EXPECT_GT(tables.size(), 3u);
  EXPECT_EQ(tables, test::lines_of(printed(paths, period)));
  EXPECT_TRUE((*feed)->restart());
  EXPECT_EQ(rest_of(**feed), tables) << "from the beginning again";
}

TEST(TraceFeed, GivesTheTablesThatStatsPrints) { expect_as_printed({kSample}, kMillisecond); }

TEST(TraceFeed, GivesThoseOfSeveralMachinesTogether) {
  if (!test::corpus()) GTEST_SKIP() << test::kNoCorpus;
  const std::string folder = *test::corpus();
  expect_as_printed({folder + "/dat/pair-host.dat", folder + "/dat/pair-guest.dat"},
                    Nanoseconds{100 * kMillisecond.count});
  expect_as_printed({folder + "/ctf/lttng-ref-traces/basic-kernel-analysis"},
                    Nanoseconds{50 * kMillisecond.count});
}

TEST(TraceFeed, BeginsAgainFromTheMiddle) {
  const auto feed = trace_feed({kSample}, kMillisecond);
  ASSERT_TRUE(feed) << feed.error().text();
  const auto first = (*feed)->next();
  ASSERT_TRUE(first && *first);
  ASSERT_TRUE((*feed)->next());
  ASSERT_TRUE((*feed)->restart());
  const auto again = (*feed)->next();
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *first);
  EXPECT_FALSE((*feed)->is_live());
}

TEST(TraceFeed, StaysAtItsEnd) {
  const auto feed = trace_feed({kSample}, kMillisecond);
  ASSERT_TRUE(feed);
  rest_of(**feed);
  EXPECT_TRUE(rest_of(**feed).empty());
}

TEST(TraceFeed, ReadsNoFurtherThanItIsAsked) {
  if (!test::corpus()) GTEST_SKIP() << test::kNoCorpus;
  // Its tables are the same whether the file is whole or ends somewhere behind them.
  const test::TemporaryFolder folder;
  const std::string whole = test::read_whole_file(*test::corpus() + "/dat/trace2.dat");
  const std::string path = folder.write("t.dat", whole);
  const auto feed = trace_feed({path}, kMillisecond);
  ASSERT_TRUE(feed) << feed.error().text();
  ASSERT_TRUE((*feed)->next());
  std::filesystem::resize_file(path, 100);
  Result<std::optional<period::Table>> table = (*feed)->next();
  while (table && *table) table = (*feed)->next();
  ASSERT_FALSE(table) << "what it had not read is gone";
  EXPECT_EQ(table.error().file, path);
  EXPECT_FALSE((*feed)->shortfalls().empty());
}

TEST(TraceFeed, WhatCannotBeReadIsAnErrorBehindTheLastTable) {
  const test::TemporaryFolder folder;
  const std::string whole = test::read_whole_file(kSample);
  const std::string path = folder.write("cut.dat", whole.substr(0, 10'000));
  const auto feed = trace_feed({path}, kMillisecond);
  ASSERT_TRUE(feed) << feed.error().text();
  std::string tables;
  Result<std::optional<period::Table>> table = (*feed)->next();
  for (; table && *table; table = (*feed)->next()) {
    TextBuffer out;
    put_json(**table, out);
    tables += out.view();
  }
  EXPECT_EQ(tables, printed({path}, kMillisecond));
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().file, path);
  EXPECT_TRUE(table.error().offset);
  EXPECT_TRUE(rest_of(**feed).empty()) << "it is told once";
}

TEST(TraceFeed, SaysWhatATraceDoesNotTell) {
  const auto feed = trace_feed({kSample}, kMillisecond);
  ASSERT_TRUE(feed);
  EXPECT_TRUE((*feed)->told().has(Group::Tasks));
  EXPECT_FALSE((*feed)->told().has(Group::Counters));
  EXPECT_TRUE((*feed)->want({Group::Tasks}));
  const Status refused = (*feed)->want(Groups{Group::Counters});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(), "perf: no performance counters were recorded");
  const std::vector<std::string> missing = (*feed)->shortfalls();
  EXPECT_NE(std::ranges::find(missing, "no performance counters were recorded"), missing.end());
}

TEST(TraceFeed, RefusesWhatCannotBeOpened) {
  const test::TemporaryFolder folder;
  const std::string gone = folder.file("gone");
  const auto no_file = open_feed({gone}, kMillisecond);
  ASSERT_FALSE(no_file);
  EXPECT_EQ(no_file.error().file, gone);
  EXPECT_FALSE(open_feed({kSample, gone}, kMillisecond)) << "one of two is not a part answer";
  EXPECT_FALSE(open_feed({folder.path()}, kMillisecond));
  EXPECT_FALSE(open_feed({folder.write("empty", "")}, kMillisecond));
  EXPECT_FALSE(open_feed({}, kMillisecond));
  const auto no_time = open_feed({kSample}, Nanoseconds{0});
  ASSERT_FALSE(no_time);
  EXPECT_EQ(no_time.error().text(), "a period takes longer than nothing");
}

class SavedLines : public testing::Test {
 protected:
  void SetUp() override {
    text_ = printed({kSample}, kMillisecond);
    lines_ = test::lines_of(text_);
    ASSERT_GT(lines_.size(), 5u);
  }
  std::string saved(const std::string& text) { return folder_.write("saved", text); }
  // Where line `i` begins.
  uint64_t offset(size_t i) const {
    uint64_t at = 0;
    for (size_t before = 0; before < i; ++before) at += lines_[before].size() + 1;
    return at;
  }
  // So many tables, then this error, again and again.
  void expect_error(const std::string& text, size_t tables, uint64_t at) {
    const std::string path = saved(text);
    const auto feed = line_feed(path);
    ASSERT_TRUE(feed) << feed.error().text();
    for (size_t i = 0; i < tables; ++i) {
      const auto table = (*feed)->next();
      ASSERT_TRUE(table && *table) << i;
    }
    for (int time = 0; time < 2; ++time) {
      const auto table = (*feed)->next();
      ASSERT_FALSE(table);
      EXPECT_EQ(table.error().file, path);
      EXPECT_EQ(table.error().offset, at);
      EXPECT_NE(table.error().cause, "");
    }
    EXPECT_TRUE((*feed)->restart());
    const auto first = (*feed)->next();
    EXPECT_TRUE(first && *first);
  }

  test::TemporaryFolder folder_;
  std::string text_;
  std::vector<std::string> lines_;
};

TEST_F(SavedLines, AreGivenAsTheyWere) {
  const auto feed = open_feed({saved("\n" + text_)}, kMillisecond);
  ASSERT_TRUE(feed) << feed.error().text();
  EXPECT_FALSE((*feed)->is_live());
  EXPECT_EQ(rest_of(**feed), lines_);
  EXPECT_TRUE(rest_of(**feed).empty());
  EXPECT_TRUE((*feed)->restart());
  EXPECT_EQ(rest_of(**feed), lines_);
}

TEST_F(SavedLines, AreToldFromATraceByWhatIsInThem) {
  std::filesystem::rename(saved(text_), folder_.file("trace.dat"));
  const auto feed = open_feed({folder_.file("trace.dat")}, kMillisecond);
  ASSERT_TRUE(feed) << feed.error().text();
  EXPECT_EQ(rest_of(**feed), lines_);
  const auto both = open_feed({kSample, saved(text_)}, kMillisecond);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().file, folder_.file("saved"));
}

TEST_F(SavedLines, TellWhatIsInTheirTables) {
  const auto trace = trace_feed({kSample}, kMillisecond);
  const auto feed = line_feed(saved(text_));
  ASSERT_TRUE(trace && feed);
  rest_of(**feed);
  EXPECT_FALSE((*feed)->told().has(Group::Counters));
  EXPECT_TRUE((*feed)->told().has(Group::Latencies));
  EXPECT_FALSE((*feed)->want(Groups::all()));
}

TEST_F(SavedLines, TellHowMuchWasLostUpToThere) {
  TextBuffer out;
  for (int64_t begin = 0; begin < 20; begin += 10) {
    period::Table table{.begin = begin, .end = begin + 10, .clock = "mono"};
    period::Machine& machine = table.machines.emplace_back(period::Machine{.name = "m"});
    machine.values.set(period::Column::Losses, 2);
    machine.values.set(period::Column::LostEvents, 300);
    machine.values.set(period::Column::MissedSwitches, begin == 0 ? 0 : 1);
    put_json(table, out);
  }
  const auto feed = line_feed(saved(std::string(out.view())));
  ASSERT_TRUE(feed) << feed.error().text();
  const auto losses = [&] {
    std::vector<std::string> found = (*feed)->shortfalls();
    std::erase_if(found, [](const std::string& text) {
      return !text.starts_with("events were lost") && text.find("switch") == std::string::npos;
    });
    for (std::string& text : found) text = text.substr(0, text.find(':'));
    return found;
  };
  EXPECT_EQ(losses(), std::vector<std::string>());
  ASSERT_TRUE((*feed)->next());
  EXPECT_EQ(losses(), std::vector<std::string>{
                          "events were lost 2 times, 300 events as far as they were counted"});
  ASSERT_TRUE((*feed)->next());
  const std::vector<std::string> both = {
      "events were lost 4 times, 600 events as far as they were counted",
      "1 switch between tasks was not recorded"};
  EXPECT_EQ(losses(), both);
  ASSERT_TRUE((*feed)->restart());
  EXPECT_EQ(losses(), std::vector<std::string>());
}

TEST_F(SavedLines, EndAtADamagedOne) {
  std::string damaged = text_;
  damaged[offset(3)] = '#';
  expect_error(damaged, 3, offset(3));
}

TEST_F(SavedLines, EndWhereTheLastWasCutOff) {
  expect_error(text_.substr(0, text_.size() - 10), lines_.size() - 1, offset(lines_.size() - 1));
}

TEST_F(SavedLines, EndWhereOneIsMissing) {
  std::string missing = text_;
  missing.erase(offset(2), lines_[2].size() + 1);
  expect_error(missing, 2, offset(2));
}

TEST_F(SavedLines, AreNotOpenedWithoutATable) {
  const auto blank = line_feed(saved("\n\n"));
  ASSERT_FALSE(blank);
  EXPECT_EQ(blank.error().file, folder_.file("saved"));
  const auto other = line_feed(saved("{\"colour\":3}\n"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().offset, 0u);
}

TEST_F(SavedLines, OfAFileThatShrinksAreAnError) {
  const std::string path = saved(text_);
  const auto feed = line_feed(path);
  ASSERT_TRUE(feed);
  std::filesystem::resize_file(path, 1);
  Result<std::optional<period::Table>> table = (*feed)->next();
  while (table && *table) table = (*feed)->next();
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().file, path);
}

}  // namespace
}  // namespace strata::lib
