// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/trace_dat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dat_maker.h"
#include "read_events.h"
#include "support/temporary_folder.h"
#include "trace/merge.h"

namespace strata::tracedat {
namespace {

using Packing = DatMaker::Packing;
using test::RingPageMaker;

class TraceDatTest : public testing::Test {
 protected:
  Everything read_6(const DatMaker& dat) {
    return read_file(folder.write("6.dat", dat.version_6()));
  }
  Everything read_7(const DatMaker& dat) {
    return read_file(folder.write("7.dat", dat.version_7()));
  }
  std::unique_ptr<TraceDat> open_7(const DatMaker& dat) {
    auto trace = TraceDat::open(folder.write("7.dat", dat.version_7()));
    EXPECT_TRUE(trace) << trace.error().text();
    return *std::move(trace);
  }
  test::TemporaryFolder folder;
};

Seen number(uint32_t cpu, int64_t value) {
  return {cpu, value, "number", "value=" + std::to_string(value)};
}

// What dat_of_numbers(cpus, pages, per_page) holds: one after the other, a CPU each.
std::vector<Seen> numbers(unsigned cpus, unsigned pages, unsigned per_page) {
  std::vector<Seen> all;
  for (unsigned i = 0; i < cpus * pages * per_page; ++i)
    all.push_back(number(i % cpus, 1'000'000 + i));
  return all;
}

TEST_F(TraceDatTest, EventsOfEveryKindOfFile) {
  const auto expected = numbers(3, 25, 20);
  for (ByteOrder order : {ByteOrder::Little, ByteOrder::Big})
    for (const uint8_t long_size : {uint8_t{8}, uint8_t{4}}) {
      DatMaker dat = dat_of_numbers(3, 25, 20, order, long_size);
      Everything all = read_6(dat);
      EXPECT_EQ(all.events, expected);
      EXPECT_TRUE(all.problems.empty());
      for (Packing packing : {Packing::None, Packing::Zlib, Packing::Zstd}) {
        dat.packing = packing;
        all = read_7(dat);
        EXPECT_EQ(all.events, expected);
        EXPECT_TRUE(all.problems.empty());
      }
    }
}

TEST_F(TraceDatTest, TheSizeOfCompressedDataMayCountTheNumberOfChunksOrNot) {
  for (bool counts : {true, false})
    for (uint32_t pages : {1u, 2u, 10u, 64u}) {
      DatMaker dat = dat_of_numbers(2, 25, 20);
      dat.packing = Packing::Zstd;
      dat.chunk_pages = pages;
      dat.size_counts_chunk_count = counts;
      const Everything all = read_7(dat);
      EXPECT_EQ(all.events, numbers(2, 25, 20));
      EXPECT_TRUE(all.problems.empty());
    }
}

TEST_F(TraceDatTest, SubBuffersOfOtherSizes) {
  for (uint32_t size : {8192u, 65536u})
    for (Packing packing : {Packing::None, Packing::Zstd}) {
      DatMaker dat = empty_dat();
      dat.packing = packing;
      dat.buffers[0].page_size = size;
      const unsigned per_page = size / 24;
      dat.buffers[0].cpus = {{0,
                              {page_of_numbers(dat, 1000, per_page, 1, size),
                               page_of_numbers(dat, 100'000, per_page, 1, size)}}};
      const Everything all = read_7(dat);
      ASSERT_EQ(all.events.size(), 2 * per_page);
      EXPECT_EQ(all.events.back(), number(0, 100'000 + per_page - 1));
      EXPECT_TRUE(all.problems.empty());
    }
}

TEST_F(TraceDatTest, LocatedTexts) {
  for (ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
    DatMaker dat = empty_dat(order);
    dat.buffers[0].cpus = {
        {0, {RingPageMaker(5, order).data(0, text_record("some text", order)).page()}}};
    EXPECT_EQ(read_7(dat).events, (std::vector<Seen>{{0, 5, "text", "text=some text"}}));
  }
}

TEST_F(TraceDatTest, SeveralInstancesAreMergedAndNamed) {
  DatMaker dat = empty_dat();
  dat.buffers[0].cpus = {{0, {page_of_numbers(dat, 1000, 2)}},
                         {1, {page_of_numbers(dat, 1005, 2)}}};
  dat.buffers.push_back({"other", "local", 4096, {{0, {page_of_numbers(dat, 1000, 3)}}}});
  std::vector<Seen> expected = {number(0, 1000), number(0, 1000), number(1, 1005), number(0, 1010),
                                number(0, 1010), number(1, 1015), number(0, 1020)};
  for (size_t i : {1, 4, 6}) expected[i].buffer = "other";
  EXPECT_EQ(read_6(dat).events, expected);
  EXPECT_EQ(read_7(dat).events, expected);
  dat.packing = Packing::Zstd;
  EXPECT_EQ(read_7(dat).events, expected);
}

TEST_F(TraceDatTest, CpusMayBeMissing) {
  DatMaker dat = empty_dat();
  dat.buffers[0].cpus = {{5, {page_of_numbers(dat, 1000, 1)}},
                         {2, {page_of_numbers(dat, 1000, 1)}}};
  EXPECT_EQ(read_7(dat).events, (std::vector<Seen>{number(2, 1000), number(5, 1000)}))
      << "ties go by CPU, whatever the order in the file";
}

TEST_F(TraceDatTest, NoEventsAtAll) {
  EXPECT_TRUE(read_6(empty_dat()).events.empty());
  EXPECT_TRUE(read_7(empty_dat()).events.empty());
  EXPECT_TRUE(read_7(empty_dat()).problems.empty());
  EXPECT_FALSE(open_7(empty_dat())->time_span());
}

TEST_F(TraceDatTest, LossesGoWithTheNextEvent) {
  DatMaker dat = empty_dat();
  dat.buffers[0].cpus = {
      {0,
       {page_of_numbers(dat, 100, 2),
        RingPageMaker(200).data(0, number_record(200)).data(1, number_record(201)).lost(12).page(),
        RingPageMaker(300).data(0, number_record(300)).lost().page(),
        // A page without events hands its loss on.
        RingPageMaker(400).lost(7).page(), RingPageMaker(500).lost(1).page(),
        RingPageMaker(600).data(0, number_record(600)).lost().page()}}};
  for (const Everything& all : {read_6(dat), read_7(dat)}) {
    ASSERT_EQ(all.events.size(), 6u);
    const auto loss = [&](size_t i) {
      return std::pair(all.events[i].lost, all.events[i].lost_unknown);
    };
    EXPECT_EQ(loss(0), std::pair(uint64_t{0}, false));
    EXPECT_EQ(loss(1), std::pair(uint64_t{0}, false));
    EXPECT_EQ(loss(2), std::pair(uint64_t{12}, false));
    EXPECT_EQ(loss(3), std::pair(uint64_t{0}, false)) << "told once";
    EXPECT_EQ(loss(4), std::pair(uint64_t{0}, true));
    EXPECT_EQ(loss(5), std::pair(uint64_t{8}, true));
    EXPECT_TRUE(all.problems.empty()) << "a loss is no damage";
  }
}

TEST_F(TraceDatTest, ADamagedPageCostsItselfAndIsMarked) {
  DatMaker dat = empty_dat();
  auto damaged = RingPageMaker(200)
                     .data(0, number_record(200))
                     .head(0, 1)  // a length of 3 cannot be
                     .word(3)
                     .data(0, number_record(202))
                     .page();
  dat.buffers[0].cpus = {
      {0, {page_of_numbers(dat, 100, 2), damaged, page_of_numbers(dat, 300, 2)}}};
  for (Packing packing : {Packing::None, Packing::Zstd}) {
    dat.packing = packing;
    const Everything all = read_7(dat);
    std::vector<Seen> expected = {number(0, 100), number(0, 110), number(0, 200), number(0, 300),
                                  number(0, 310)};
    expected[3].lost_unknown = true;
    EXPECT_EQ(all.events, expected);
    ASSERT_EQ(all.problems.size(), 1u);
    EXPECT_EQ(all.problems[0].file, folder.file("7.dat"));
    EXPECT_TRUE(all.problems[0].offset.has_value());
  }
}

TEST_F(TraceDatTest, ADamagedChunkCostsItselfAndIsMarked) {
  DatMaker dat = dat_of_numbers(1, 6, 3);
  dat.packing = Packing::Zstd;
  dat.chunk_pages = 2;
  auto bytes = dat.version_7();
  // The second chunk's first byte of packed data: its header is {packed size, plain size 8192}.
  const std::string_view text = as_text(bytes);
  size_t at = 0;
  for (int chunk = 0; chunk < 2; ++chunk)
    at = text.find(std::string_view("\0\x20\0\0\x28\xb5\x2f\xfd", 8), at + 1);
  ASSERT_NE(at, std::string_view::npos);
  bytes[at + 4] ^= std::byte{0xff};
  const Everything all = read_file(folder.write("damaged.dat", bytes));
  std::vector<Seen> expected = numbers(1, 6, 3);
  expected.erase(expected.begin() + 6, expected.begin() + 12);
  expected[6].lost_unknown = true;
  EXPECT_EQ(all.events, expected);
  EXPECT_EQ(all.problems.size(), 1u);
}

TEST_F(TraceDatTest, EventsThatTheFileDoesNotDescribeAreKeptAndTold) {
  DatMaker dat = empty_dat();
  auto unknown = number_record(7);
  unknown[0] = std::byte{200};
  dat.buffers[0].cpus = {{0, {RingPageMaker(5).data(0, unknown).data(1, number_record(6)).page()}}};
  const Everything all = read_7(dat);
  ASSERT_EQ(all.events.size(), 2u);
  EXPECT_NE(all.events[0].name, "number");
  EXPECT_EQ(all.events[1], number(0, 6));
  EXPECT_EQ(all.problems.size(), 1u);
}

TEST_F(TraceDatTest, AFormatThatCannotBeReadLeavesTheOthers) {
  DatMaker dat = dat_of_numbers(1, 1, 2);
  dat.systems.insert(dat.systems.begin(), {"odd", {"name: odd\nID: none\n"}});
  const Everything all = read_7(dat);
  EXPECT_EQ(all.events, numbers(1, 1, 2));
  ASSERT_EQ(all.problems.size(), 1u);
  EXPECT_EQ(all.problems[0].file, folder.file("7.dat"));
}

TEST_F(TraceDatTest, TimesGoThroughTheClockOptions) {
  DatMaker dat = dat_of_numbers(2, 1, 2);
  dat.add_option(14, [](ByteWriter& out) {
    out.u32(1);
    out.u32(1);
    out.u64(0);
  });
  dat.add_option(7, "1000");
  const Everything all = read_7(dat);
  ASSERT_EQ(all.events.size(), 4u);
  EXPECT_EQ(all.events[0].time, 501'000);
  EXPECT_EQ(all.events[3].time, 501'001);
}

TEST_F(TraceDatTest, SaysWhatItIs) {
  DatMaker dat = dat_of_numbers(3, 1, 2);
  dat.packing = Packing::Zstd;
  dat.add_option(5, "Linux pelican 6.1.0-13-amd64 #1 SMP Debian 6.1.55-1 (2023-09-29) x86_64");
  dat.add_option(9, "3.1.6 (not a git repo)");
  dat.add_option(4, "local [global] counter");
  dat.add_option(8, [](ByteWriter& out) { out.u32(8); });
  dat.add_option(11, [](ByteWriter& out) { out.u64(0xabcdef); });
  const auto trace = open_7(dat);
  const trace::TraceInfo& info = trace->info();
  EXPECT_EQ(info.path, folder.file("7.dat"));
  EXPECT_EQ(info.kind, "trace.dat 7");
  EXPECT_EQ(info.machine, "pelican");
  EXPECT_THAT(info.kernel, testing::StartsWith("6.1.0-13-amd64"));
  EXPECT_THAT(info.tracer, testing::HasSubstr("3.1.6"));
  EXPECT_EQ(info.clock.name, "global");
  EXPECT_EQ(info.cpus, 8u);
  EXPECT_TRUE(info.in_nanoseconds);
  EXPECT_FALSE(info.since_epoch);
  EXPECT_EQ(trace->task_names().find(Tid{17}), "seventeen");
  EXPECT_EQ(trace->event_types().size(), 3u);
}

TEST_F(TraceDatTest, CyclesAreTimeOnlyThroughAMap) {
  DatMaker dat = dat_of_numbers(1, 1, 2);
  dat.buffers[0].clock = "x86-tsc";
  EXPECT_FALSE(open_7(dat)->info().in_nanoseconds);
  dat.add_option(14, [](ByteWriter& out) {
    out.u32(5'368'709);
    out.u32(24);
    out.u64(0);
  });
  EXPECT_TRUE(open_7(dat)->info().in_nanoseconds);
}

TEST_F(TraceDatTest, TheSpanIsThatOfTheFirstAndTheLastEvent) {
  for (Packing packing : {Packing::None, Packing::Zstd}) {
    DatMaker dat = dat_of_numbers(3, 25, 20);
    dat.packing = packing;
    // Empty pages at the end have no time.
    for (auto& cpu : dat.buffers[0].cpus)
      for (int i = 0; i < 12; ++i) cpu.pages.push_back(RingPageMaker(0).page());
    const auto span = open_7(dat)->time_span();
    ASSERT_TRUE(span);
    EXPECT_EQ(span->begin.count, 1'000'000);
    EXPECT_EQ(span->end.count, 1'000'000 + 3 * 25 * 20 - 1);
  }
}

TEST_F(TraceDatTest, SkippingPassesOverNothingThatIsWanted) {
  for (Packing packing : {Packing::None, Packing::Zstd}) {
    DatMaker dat = dat_of_numbers(1, 40, 10);
    dat.packing = packing;
    dat.chunk_pages = 3;
    const auto trace = open_7(dat);
    for (int64_t time : {0, 999'999, 1'000'000, 1'000'001, 1'000'010, 1'000'199, 1'000'200,
                         1'000'399, 1'000'400, 9'000'000}) {
      const auto streams = trace->open_streams();
      streams[0]->skip_to(Nanoseconds{time});
      int64_t passed = 0;
      int64_t first = 0;
      while (streams[0]->next() == trace::Step::Event) {
        first = streams[0]->event().time.count;
        if (first >= time) break;
        ++passed;
      }
      if (time <= 1'000'399) {
        EXPECT_EQ(first, std::max<int64_t>(time, 1'000'000)) << time;
      }
      EXPECT_LE(passed, 30) << "at most the block that it begins in";
    }
  }
}

TEST_F(TraceDatTest, StreamsMayBeReadSideBySide) {
  const auto trace = open_7(dat_of_numbers(2, 3, 10));
  trace::Merge first(trace->open_streams());
  trace::Merge second(trace->open_streams());
  for (int i = 0; i < 60; ++i) {
    ASSERT_EQ(first.next(), trace::Step::Event);
    ASSERT_EQ(second.next(), trace::Step::Event);
    ASSERT_EQ(first.event().time, second.event().time);
  }
  EXPECT_EQ(first.next(), trace::Step::End);
  for (const auto& stream : first.streams()) EXPECT_EQ(stream->bytes_done(), stream->bytes_total());
}

TEST_F(TraceDatTest, IsRecognisedByItsFirstBytes) {
  EXPECT_TRUE(TraceDat::recognises(empty_dat().version_6()));
  EXPECT_TRUE(TraceDat::recognises(empty_dat().version_7()));
  EXPECT_FALSE(TraceDat::recognises({}));
  EXPECT_FALSE(TraceDat::recognises(as_bytes("tracing")));
}

}  // namespace
}  // namespace strata::tracedat
