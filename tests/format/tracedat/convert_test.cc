// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dat_maker.h"
#include "read_events.h"
#include "support/temporary_folder.h"

namespace strata::tracedat {
namespace {

using test::RingPageMaker;

class ConvertTest : public testing::TestWithParam<Compression> {
 protected:
  std::unique_ptr<TraceDat> open(const std::vector<std::byte>& bytes) {
    auto trace = TraceDat::open(folder.write("in.dat", bytes));
    EXPECT_TRUE(trace) << trace.error().text();
    return *std::move(trace);
  }
  Everything converted(const TraceDat& trace) {
    const Status done = convert(trace, folder.file("out.dat"), {GetParam(), 0});
    EXPECT_TRUE(done) << done.error().text();
    return read_file(folder.file("out.dat"));
  }
  Everything trimmed(const TraceDat& trace, int64_t begin, int64_t end) {
    const Status done =
        trim(trace, Nanoseconds{begin}, Nanoseconds{end}, folder.file("out.dat"), {GetParam(), 0});
    EXPECT_TRUE(done) << done.error().text();
    return read_file(folder.file("out.dat"));
  }
  // Two CPUs, an instance, texts, long records, losses, and a clock.
  static DatMaker rich(ByteOrder order, uint8_t long_size) {
    DatMaker dat = dat_of_numbers(2, 30, 40, order, long_size);
    dat.buffers[0].cpus[0].pages.insert(dat.buffers[0].cpus[0].pages.begin() + 3,
                                        RingPageMaker(1'000'240, order, long_size)
                                            .data(0, text_record("short", order))
                                            .long_data(0, text_record(std::string(500, 'x'), order))
                                            .lost(9)
                                            .page());
    dat.buffers.push_back(
        {"other",
         "local",
         4096,
         {{1,
           {page_of_numbers(dat, 1'000'100, 30), RingPageMaker(1'000'700, order, long_size)
                                                     .data(0, number_record(1, order))
                                                     .lost()
                                                     .page()}}}});
    dat.add_option(5, "Linux pelican 6.1.0");
    dat.add_option(4, "[local] global");
    dat.add_option(14, [](ByteWriter& out) {
      out.u32(3);
      out.u32(1);
      out.u64(0);
    });
    dat.add_option(7, "-12345");
    return dat;
  }
  test::TemporaryFolder folder;
};

INSTANTIATE_TEST_SUITE_P(Compressions, ConvertTest,
                         testing::Values(Compression::None, Compression::Zstd));

TEST_P(ConvertTest, TheSameTraceFromEveryKindOfFile) {
  for (ByteOrder order : {ByteOrder::Little, ByteOrder::Big})
    for (const uint8_t long_size : {uint8_t{8}, uint8_t{4}}) {
      DatMaker dat = rich(order, long_size);
      for (const auto& bytes : {dat.version_6(), dat.version_7()}) {
        const auto trace = open(bytes);
        const Everything before = read_events(*trace);
        ASSERT_EQ(before.events.size(), 2u * 30 * 40 + 2 + 31);
        const Everything after = converted(*trace);
        EXPECT_EQ(after.events, before.events);
        EXPECT_TRUE(after.problems.empty());
      }
    }
}

TEST_P(ConvertTest, FromCompressedFiles) {
  DatMaker dat = rich(ByteOrder::Little, 8);
  for (auto packing : {DatMaker::Packing::Zlib, DatMaker::Packing::Zstd}) {
    dat.packing = packing;
    const auto trace = open(dat.version_7());
    EXPECT_EQ(converted(*trace).events, read_events(*trace).events);
  }
}

TEST_P(ConvertTest, KeepsWhatTheTraceSaysOfItself) {
  DatMaker dat = rich(ByteOrder::Little, 8);
  dat.add_option(999, "an option of the future");
  for (const auto& bytes : {dat.version_6(), dat.version_7()}) {
    const auto before = open(bytes);
    converted(*before);
    auto after = TraceDat::open(folder.file("out.dat"));
    ASSERT_TRUE(after);
    EXPECT_EQ((*after)->info().kind, "trace.dat 7");
    EXPECT_EQ((*after)->info().machine, "pelican");
    EXPECT_EQ((*after)->info().clock.name, "local");
    EXPECT_EQ((*after)->info().cpus, before->info().cpus);
    EXPECT_EQ((*after)->layout().kallsyms, dat.kallsyms);
    EXPECT_EQ((*after)->layout().printk_formats, dat.printk);
    EXPECT_EQ((*after)->task_names().all(), before->task_names().all());
    const Option* unknown = (*after)->layout().find(static_cast<OptionId>(999));
    ASSERT_NE(unknown, nullptr);
    EXPECT_EQ(as_text(unknown->data), std::string_view("an option of the future\0", 24));
    EXPECT_EQ((*after)->event_types().size(), before->event_types().size());
  }
}

TEST_P(ConvertTest, ADamagedTraceGivesWhatIsThereAndAProblem) {
  DatMaker dat = dat_of_numbers(1, 3, 10);
  dat.buffers[0].cpus[0].pages[1] =
      RingPageMaker(1'000'010).data(0, number_record(1)).head(0, 0).word(0xffff).page();
  const auto trace = open(dat.version_7());
  const Everything before = read_events(*trace);
  ASSERT_EQ(before.events.size(), 21u);
  const Status done = convert(*trace, folder.file("out.dat"), {GetParam(), 0});
  if (!done) {
    EXPECT_EQ(done.error().file, folder.file("in.dat"));
  }
  if (done) {
    EXPECT_EQ(read_file(folder.file("out.dat")).events, before.events);
  }
}

TEST_P(ConvertTest, OntoItself) {
  // The file under its old name is what is being read until the new one takes its place.
  const auto trace = open(rich(ByteOrder::Little, 8).version_7());
  const Everything before = read_events(*trace);
  ASSERT_TRUE(convert(*trace, folder.file("in.dat"), {GetParam(), 0}));
  EXPECT_EQ(read_file(folder.file("in.dat")).events, before.events);
}

TEST_P(ConvertTest, AFolderThatIsNotThereIsAnError) {
  const auto trace = open(rich(ByteOrder::Little, 8).version_7());
  EXPECT_FALSE(convert(*trace, folder.file("none/out.dat"), {GetParam(), 0}));
  EXPECT_FALSE(
      trim(*trace, Nanoseconds{0}, Nanoseconds{1}, folder.file("none/out.dat"), {GetParam(), 0}));
}

std::vector<Seen> between(const Everything& all, int64_t begin, int64_t end) {
  std::vector<Seen> events;
  for (const Seen& seen : all.events)
    if (seen.time >= begin && seen.time <= end) events.push_back(seen);
  return events;
}

TEST_P(ConvertTest, TrimKeepsExactlyTheEventsOfTheWindow) {
  for (ByteOrder order : {ByteOrder::Little, ByteOrder::Big})
    for (const uint8_t long_size : {uint8_t{8}, uint8_t{4}}) {
      DatMaker dat = rich(order, long_size);
      dat.options.pop_back();  // a nanosecond is a tick
      dat.options.pop_back();
      for (const auto& bytes : {dat.version_6(), dat.version_7()}) {
        const auto trace = open(bytes);
        const Everything all = read_events(*trace);
        for (const auto& [begin, end] : std::vector<std::pair<int64_t, int64_t>>{
                 {1'000'000, 1'002'399},  // all
                 {0, 2'000'000},          // more than all
                 {1'000'500, 1'001'000},  // both ends fall on events
                 {1'000'501, 1'000'501},  // one
                 {1'000'230, 1'000'245},  // around a loss
                 {1'002'399, 1'002'399},  // the last
                 {0, 999'999},            // none
                 {5'000'000, 6'000'000}}) {
          const Everything got = trimmed(*trace, begin, end);
          std::vector<Seen> expected = between(all, begin, end);
          // Whether a loss lies between the window's begin and its first event, nobody knows: what
          // is told there may be told or not.
          ASSERT_EQ(got.events.size(), expected.size()) << begin << " to " << end;
          for (size_t i = 0; i < expected.size(); ++i) {
            if (expected[i].time < begin + 10) {
              expected[i].lost = got.events[i].lost;
              expected[i].lost_unknown = got.events[i].lost_unknown;
            }
            ASSERT_EQ(got.events[i], expected[i]) << begin << " to " << end;
          }
          EXPECT_TRUE(got.problems.empty());
        }
      }
    }
}

TEST_P(ConvertTest, TrimGoesByTheTimelineAndNotByTicks) {
  const auto trace = open(rich(ByteOrder::Little, 8).version_7());
  const Everything all = read_events(*trace);
  // x 3/2 - 12345
  ASSERT_EQ(all.events.front().time, 1'487'655);
  const Everything got = trimmed(*trace, 1'488'000, 1'488'400);
  EXPECT_EQ(got.events, between(all, 1'488'000, 1'488'400));
  EXPECT_GT(got.events.size(), 100u);
}

TEST_P(ConvertTest, TrimKeepsLossesInsideTheWindow) {
  DatMaker dat = empty_dat();
  dat.buffers[0].cpus = {
      {0,
       {page_of_numbers(dat, 100, 3), RingPageMaker(200).data(0, number_record(200)).lost(5).page(),
        RingPageMaker(300).data(0, number_record(300)).lost().page(),
        RingPageMaker(400).data(0, number_record(400)).lost(2).page()}}};
  const auto trace = open(dat.version_7());
  const Everything got = trimmed(*trace, 110, 350);
  ASSERT_EQ(got.events.size(), 4u);
  EXPECT_EQ(got.events[1].lost, 0u);
  EXPECT_EQ(got.events[2].lost, 5u);
  EXPECT_FALSE(got.events[2].lost_unknown);
  EXPECT_EQ(got.events[3].lost, 0u);
  EXPECT_TRUE(got.events[3].lost_unknown);
}

TEST_P(ConvertTest, TrimKeepsEventsWhoseClockRanBackwards) {
  DatMaker dat = empty_dat();
  dat.buffers[0].cpus = {{0,
                          {RingPageMaker(1000)
                               .data(0, number_record(1000))
                               .data(10, number_record(1010))
                               .time_stamp(1005)
                               .data(0, number_record(1005))
                               .data(20, number_record(1025))
                               .page()}}};
  const auto trace = open(dat.version_7());
  const Everything got = trimmed(*trace, 1003, 1020);
  ASSERT_EQ(got.events.size(), 2u);
  EXPECT_EQ(got.events[0].time, 1010);
  EXPECT_EQ(got.events[1].time, 1005);
}

TEST_P(ConvertTest, TrimKeepsWhatTheTraceSaysOfItself) {
  const auto before = open(rich(ByteOrder::Little, 8).version_6());
  trimmed(*before, 1'488'000, 1'488'400);
  auto after = TraceDat::open(folder.file("out.dat"));
  ASSERT_TRUE(after);
  EXPECT_EQ((*after)->info().machine, "pelican");
  EXPECT_EQ((*after)->info().clock.name, "local");
  EXPECT_EQ((*after)->task_names().all(), before->task_names().all());
  EXPECT_EQ((*after)->event_types().size(), before->event_types().size());
}

}  // namespace
}  // namespace strata::tracedat
