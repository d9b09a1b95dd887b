// SPDX-License-Identifier: Apache-2.0
//
// What we write, as stock trace-cmd reports it.
#include <gtest/gtest.h>

#include <regex>

#include "dat_maker.h"
#include "format/tracedat/clock_options.h"
#include "format/tracedat/convert.h"
#include "read_events.h"
#include "support/command.h"
#include "support/corpus.h"
#include "support/temporary_folder.h"
#include "trace/merge.h"

namespace strata::tracedat {
namespace {

using Lines = std::vector<std::string>;

// The lines of `trace-cmd report`, without the one that tells the file's version.
Lines report(const std::string& path, const std::vector<std::string>& more = {}) {
  std::vector<std::string> command = {"trace-cmd", "report"};
  command.insert(command.end(), more.begin(), more.end());
  command.push_back("-i");
  command.push_back(path);
  const test::CommandResult result = test::run(command);
  EXPECT_EQ(result.status, 0) << path;
  Lines lines = test::lines_of(result.output);
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("version = "); });
  return lines;
}

// Long lists of lines print badly: the first that differs will do.
void expect_same(const Lines& got, const Lines& expected, std::string_view what) {
  for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i)
    ASSERT_EQ(got[i], expected[i]) << what << ", line " << i + 1;
  ASSERT_EQ(got.size(), expected.size()) << what;
}

class ReportPeerTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!test::has_program("trace-cmd")) GTEST_SKIP() << "there is no trace-cmd";
    const auto corpus = test::corpus();
    if (!corpus) GTEST_SKIP() << test::kNoCorpus;
    original = *corpus + "/dat/" + GetParam() + ".dat";
  }
  void convert_file(const std::string& from, const std::string& to, Compression compression) {
    auto trace = TraceDat::open(from);
    ASSERT_TRUE(trace) << trace.error().text();
    const Status done = convert(**trace, to, {compression, 0});
    ASSERT_TRUE(done) << done.error().text();
  }
  std::string original;
  test::TemporaryFolder folder;
};

INSTANTIATE_TEST_SUITE_P(Files, ReportPeerTest,
                         testing::Values("lisa_sched_load", "trappy_trace", "trace2", "pair-host",
                                         "pair-guest"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::erase_if(text, [](char c) { return !isalnum(c); });
                           return text;
                         });

TEST_P(ReportPeerTest, TheSameTextAfterEveryConversion) {
  const Lines expected = report(original);
  ASSERT_GT(expected.size(), 100u);
  const std::string plain = folder.file("plain.dat");
  const std::string packed = folder.file("packed.dat");
  const std::string back = folder.file("back.dat");
  ASSERT_NO_FATAL_FAILURE(convert_file(original, plain, Compression::None));
  expect_same(report(plain), expected, "uncompressed");
  ASSERT_NO_FATAL_FAILURE(convert_file(plain, packed, Compression::Zstd));
  expect_same(report(packed), expected, "compressed");
  ASSERT_NO_FATAL_FAILURE(convert_file(packed, back, Compression::None));
  EXPECT_EQ(test::read_whole_file(back), test::read_whole_file(plain)) << "there and back";
}

// Events of a report: a line, with those that belong to it (a stack) below.
struct ReportedEvent {
  int64_t time;
  std::string text;
  bool operator==(const ReportedEvent&) const = default;
};
std::vector<ReportedEvent> events_of(const Lines& lines) {
  // "  task name-pid   [cpu]  seconds.nanoseconds: event: ..."
  static const std::regex kEvent(R"(^.*-\d+ +\[\d+\].*? (\d+)\.(\d{9}): .*)");
  std::vector<ReportedEvent> events;
  for (const std::string& line : lines) {
    std::smatch match;
    if (std::regex_match(line, match, kEvent))
      events.push_back({std::stoll(match[1]) * 1'000'000'000 + std::stoll(match[2]), line});
    else if (!events.empty() && !line.starts_with("CPU:"))
      events.back().text += "\n" + line;
  }
  return events;
}

// trace-cmd learns names from the events it prints: those before the window told it some that the
// trimmed trace does not hold. Where it says "<...>", any name is as good.
std::string named_as_in(const std::string& got, std::string expected) {
  const size_t unknown = got.find("<...>-");
  if (unknown != 11) return expected;
  const size_t pid = got.find_first_not_of("0123456789", unknown + 6);
  const std::string tail = got.substr(unknown + 5, pid - unknown - 5) + " ";
  if (const size_t at = expected.find(tail); at == unknown + 5)
    expected.replace(0, at, got.substr(0, unknown + 5));
  return expected;
}

TEST_P(ReportPeerTest, ATrimmedTraceIsTheWindowOfTheWhole) {
  const std::vector<ReportedEvent> all = events_of(report(original, {"-t"}));
  ASSERT_GT(all.size(), 100u);
  const int64_t begin = all[all.size() * 3 / 10].time;
  const int64_t end = all[all.size() * 6 / 10].time;
  std::vector<ReportedEvent> expected;
  for (const ReportedEvent& event : all)
    if (event.time >= begin && event.time <= end) expected.push_back(event);

  auto trace = TraceDat::open(original);
  ASSERT_TRUE(trace);
  const std::string path = folder.file("trimmed.dat");
  // The file's own timeline may differ from what trace-cmd shows of it alone (a guest's).
  const auto span = (*trace)->time_span();
  if (span->begin.count != all.front().time) GTEST_SKIP() << "trace-cmd shows another timeline";
  ASSERT_TRUE(trim(**trace, Nanoseconds{begin}, Nanoseconds{end}, path, {}));
  const std::vector<ReportedEvent> got = events_of(report(path, {"-t"}));
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i].text, named_as_in(got[i].text, expected[i].text)) << i;
}

// The times that trace-cmd gives the events of a file when it reads another one beside it.
std::vector<int64_t> times_beside(const std::string& host, const std::string& guest) {
  const test::CommandResult result =
      test::run({"trace-cmd", "report", "-t", "-i", host, "-i", guest});
  EXPECT_EQ(result.status, 0);
  std::vector<int64_t> times;
  static const std::regex kLine(R"(^ *guest\.dat: .* (\d+)\.(\d{9}): number: .*)");
  for (const std::string& line : test::lines_of(result.output)) {
    std::smatch match;
    if (std::regex_match(line, match, kLine))
      times.push_back(std::stoll(match[1]) * 1'000'000'000 + std::stoll(match[2]));
  }
  return times;
}

class TimeShiftPeerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_program("trace-cmd")) GTEST_SKIP() << "there is no trace-cmd";
    DatMaker host = dat_of_numbers(1, 1, 5);
    host.add_option(11, [](ByteWriter& out) { out.u64(0x1111); });
    host.add_option(13, [](ByteWriter& out) {
      out.string("guest");
      out.u64(0x2222);
      out.u32(1);
      out.u32(0);
      out.u32(0xffffffff);
    });
    write(host, "host.dat");
    DatMaker guest = empty_dat();
    DatMaker::Cpu cpu{0, {}};
    for (uint64_t page = 0; page < 20; ++page)
      cpu.pages.push_back(page_of_numbers(guest, 1'000'000'000 + page * 12'345'678, 100, 103'211));
    guest.buffers[0].cpus.push_back(cpu);
    guest.add_option(11, [](ByteWriter& out) { out.u64(0x2222); });
    write(guest, "guest.dat");
  }
  // By our own writer.
  void write(const DatMaker& dat, const std::string& name) {
    auto trace = TraceDat::open(folder.write("by-hand.dat", dat.version_7()));
    ASSERT_TRUE(trace);
    ASSERT_TRUE(convert(**trace, folder.file(name), {}));
  }
  void expect_our_times(const std::vector<ShiftSample>& samples) {
    const TimeShift shift{0x1111, true, {samples}};
    ASSERT_TRUE(append_options(folder.file("guest.dat"),
                               {{OptionId::TimeShift, encode_time_shift(shift, kNativeOrder)}}));
    std::vector<int64_t> ours;
    for (const Seen& seen : read_file(folder.file("guest.dat")).events) ours.push_back(seen.time);
    ASSERT_EQ(ours.size(), 2000u);
    const std::vector<int64_t> theirs =
        times_beside(folder.file("host.dat"), folder.file("guest.dat"));
    ASSERT_EQ(theirs.size(), ours.size());
    for (size_t i = 0; i < ours.size(); ++i) ASSERT_EQ(ours[i], theirs[i]) << i;
  }
  test::TemporaryFolder folder;
};

TEST_F(TimeShiftPeerTest, AnOffset) { expect_our_times({{1'000'000'000, 777'777'777}}); }

TEST_F(TimeShiftPeerTest, OffsetsThatRise) {
  expect_our_times({{900'000'000, 5'000'000'000},
                    {1'050'000'000, 5'000'001'234},
                    {1'100'000'000, 5'000'077'777},
                    {1'400'000'000, 5'000'077'778}});
}

TEST_F(TimeShiftPeerTest, OffsetsThatFall) {
  expect_our_times({{900'000'000, 5'000'077'778},
                    {1'050'000'000, 5'000'077'777},
                    {1'100'000'000, 5'000'001'234},
                    {1'400'000'000, 5'000'000'000}});
}

TEST_F(TimeShiftPeerTest, OffsetsBelowZero) {
  expect_our_times({{900'000'000, -500'000'000}, {1'400'000'000, -500'123'456}});
}

TEST_F(TimeShiftPeerTest, EventsBeforeTheFirstSampleAndAfterTheLast) {
  expect_our_times({{1'100'000'000, 5'000'000'000}, {1'150'000'000, 5'000'001'234}});
}

TEST_F(TimeShiftPeerTest, EventsBeforeTheFirstSampleAndAfterTheLastOfOffsetsThatFall) {
  expect_our_times({{1'100'000'000, 5'000'001'234}, {1'150'000'000, 5'000'000'000}});
}

TEST_F(TimeShiftPeerTest, OffsetsThatHardlyChange) {
  expect_our_times({{1'100'000'000, 5'000'000'001}, {1'150'000'000, 5'000'000'000}});
}

}  // namespace
}  // namespace strata::tracedat
