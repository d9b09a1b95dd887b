// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dat_maker.h"
#include "read_events.h"
#include "support/temporary_folder.h"

namespace strata::tracedat {
namespace {

struct Variant {
  Compression compression;
  ByteOrder order;
  uint8_t long_size;
};

class WriterTest : public testing::TestWithParam<Variant> {
 protected:
  // What `dat` says, as a head; views into `dat` and into this test.
  Head head_of(const DatMaker& dat) {
    Head head;
    head.target = {dat.order, dat.long_size};
    header_page = dat.header_page();
    header_event = DatMaker::header_event();
    head.header_page = header_page;
    head.header_event = header_event;
    for (const std::string& format : dat.ftrace_formats) head.formats.push_back({"ftrace", format});
    for (const auto& [system, formats] : dat.systems)
      for (const std::string& format : formats) head.formats.push_back({system, format});
    head.kallsyms = dat.kallsyms;
    head.printk_formats = dat.printk;
    head.cmdlines = dat.cmdlines;
    for (const auto& option : dat.options)
      head.options.push_back({static_cast<OptionId>(option.id), option.data});
    for (const auto& buffer : dat.buffers) {
      PlannedBuffer plan{buffer.name, buffer.clock, buffer.page_size, {}};
      for (const auto& cpu : buffer.cpus) plan.cpus.push_back(cpu.cpu);
      head.buffers.push_back(plan);
    }
    return head;
  }
  std::string write(const DatMaker& dat, uint32_t chunk_pages = 0) {
    auto writer = Writer::create(path, head_of(dat), {GetParam().compression, chunk_pages});
    EXPECT_TRUE(writer) << writer.error().text();
    for (const auto& buffer : dat.buffers)
      for (const auto& cpu : buffer.cpus) {
        EXPECT_TRUE(writer->begin_cpu());
        for (const PageBytes& page : cpu.pages) EXPECT_TRUE(writer->add_page(page));
      }
    const Status done = writer->finish();
    EXPECT_TRUE(done) << done.error().text();
    return path;
  }
  DatMaker maker(unsigned cpus, unsigned pages, unsigned per_page) const {
    return dat_of_numbers(cpus, pages, per_page, GetParam().order, GetParam().long_size);
  }
  Everything expected(const DatMaker& dat) {
    return read_file(folder.write("by-hand.dat", dat.version_7()));
  }
  test::TemporaryFolder folder;
  std::string path = folder.file("written.dat");
  std::string header_page;
  std::string header_event;
};

INSTANTIATE_TEST_SUITE_P(Files, WriterTest,
                         testing::Values(Variant{Compression::None, ByteOrder::Little, 8},
                                         Variant{Compression::Zstd, ByteOrder::Little, 8},
                                         Variant{Compression::None, ByteOrder::Big, 8},
                                         Variant{Compression::Zstd, ByteOrder::Big, 4},
                                         Variant{Compression::None, ByteOrder::Little, 4}));

TEST_P(WriterTest, WhatIsWrittenIsRead) {
  const DatMaker dat = maker(3, 150, 20);
  for (uint32_t chunk_pages : {0u, 1u, 7u}) {
    const Everything all = read_file(write(dat, chunk_pages));
    EXPECT_EQ(all.events, expected(dat).events);
    EXPECT_EQ(all.events.size(), 3u * 150 * 20);
    EXPECT_TRUE(all.problems.empty());
  }
}

TEST_P(WriterTest, TheKernelsDescriptionsAreKept) {
  DatMaker dat = maker(1, 1, 1);
  dat.systems.push_back({"another", {"name: other\nID: 300\nformat:\n\nprint fmt: \"\"\n"}});
  auto trace = TraceDat::open(write(dat));
  ASSERT_TRUE(trace) << trace.error().text();
  const Layout& layout = (*trace)->layout();
  EXPECT_EQ(layout.version, 7u);
  EXPECT_EQ(layout.target.order, GetParam().order);
  EXPECT_EQ(layout.target.long_size, GetParam().long_size);
  EXPECT_EQ(layout.header_page, dat.header_page());
  EXPECT_EQ(layout.header_event, DatMaker::header_event());
  EXPECT_EQ(layout.kallsyms, dat.kallsyms);
  EXPECT_EQ(layout.printk_formats, dat.printk);
  EXPECT_EQ(layout.cmdlines, dat.cmdlines);
  ASSERT_EQ(layout.formats.size(), 4u);
  EXPECT_EQ(layout.formats[0].system, "ftrace");
  EXPECT_EQ(layout.formats[2].text, text_format());
  EXPECT_EQ(layout.formats[3].system, "another");
  EXPECT_EQ(layout.compression, GetParam().compression);
}

TEST_P(WriterTest, EveryOptionIsKept) {
  DatMaker dat = maker(1, 1, 1);
  for (int number : {1, 2, 2, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 24, 999})
    dat.add_option(static_cast<uint16_t>(number), "the option " + std::to_string(number));
  auto trace = TraceDat::open(write(dat));
  ASSERT_TRUE(trace);
  std::vector<std::string> found;
  for (const Option& option : (*trace)->layout().options)
    if (as_text(option.data).starts_with("the option ")) found.emplace_back(as_text(option.data));
  ASSERT_EQ(found.size(), dat.options.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], as_text(dat.options[i].data));
}

TEST_P(WriterTest, TheNumberOfCpusIsToldOnce) {
  // Readers that go by it see no events without.
  DatMaker dat = maker(3, 1, 1);
  dat.buffers.push_back({"other", "local", 4096, {{6, {page_of_numbers(dat, 1, 1)}}}});
  const auto counts = [&] {
    std::vector<uint32_t> all;
    auto trace = TraceDat::open(write(dat));
    for (const Option& option : (*trace)->layout().options)
      if (option.id == OptionId::CpuCount) all.push_back(ByteReader(option.data, dat.order).u32());
    return all;
  };
  EXPECT_EQ(counts(), std::vector<uint32_t>{7});
  dat.add_option(8, [](ByteWriter& out) { out.u32(12); });
  EXPECT_EQ(counts(), std::vector<uint32_t>{12});
}

TEST_P(WriterTest, SeveralBuffersOfSeveralSizes) {
  DatMaker dat = maker(2, 3, 5);
  dat.buffers.push_back({"large pages", "mono", 16384, {}});
  for (uint32_t cpu : {1u, 4u})
    dat.buffers[1].cpus.push_back({cpu, {page_of_numbers(dat, 1'000'002 + cpu, 300, 7, 16384)}});
  dat.buffers.push_back({"empty", "local", 4096, {}});
  const Everything all = read_file(write(dat));
  EXPECT_EQ(all.events, expected(dat).events);
  EXPECT_EQ(all.events.size(), 2u * 3 * 5 + 600);
  EXPECT_TRUE(all.problems.empty());
  auto trace = TraceDat::open(path);
  ASSERT_TRUE(trace);
  const auto& buffers = (*trace)->layout().buffers;
  ASSERT_GE(buffers.size(), 2u);
  EXPECT_EQ(buffers[1].name, "large pages");
  EXPECT_EQ(buffers[1].clock, "mono");
  EXPECT_EQ(buffers[1].page_size, 16384u);
}

TEST_P(WriterTest, CpusWithoutPagesAreFine) {
  DatMaker dat = maker(3, 2, 5);
  dat.buffers[0].cpus[1].pages.clear();
  const Everything all = read_file(write(dat));
  EXPECT_EQ(all.of_cpu(0).size(), 10u);
  EXPECT_EQ(all.of_cpu(1).size(), 0u);
  EXPECT_EQ(all.of_cpu(2).size(), 10u);
  EXPECT_TRUE(all.problems.empty());
}

TEST_P(WriterTest, NothingAppearsBeforeItIsWhole) {
  const DatMaker dat = maker(2, 3, 5);
  {
    auto writer = Writer::create(path, head_of(dat), {GetParam().compression, 0});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->begin_cpu());
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(writer->add_page(dat.buffers[0].cpus[0].pages[0]));
    EXPECT_TRUE(folder.names().empty());
  }
  EXPECT_TRUE(folder.names().empty());
}

class PlainWriterTest : public WriterTest {};
INSTANTIATE_TEST_SUITE_P(Files, PlainWriterTest,
                         testing::Values(Variant{Compression::None, ByteOrder::Little, 8}));

TEST_P(PlainWriterTest, PagesLieAtMultiplesOfTheirSize) {
  auto trace = TraceDat::open(write(maker(3, 2, 5)));
  ASSERT_TRUE(trace);
  for (const CpuData& cpu : (*trace)->layout().buffers[0].cpus) EXPECT_EQ(cpu.offset % 4096, 0u);
}

TEST_P(WriterTest, AFileThatIsCutOffStillOpensWithTheEventsThatAreThere) {
  const DatMaker dat = maker(1, 200, 20);
  write(dat, 1);
  const std::string whole = test::read_whole_file(path);
  auto trace = TraceDat::open(path);
  ASSERT_TRUE(trace);
  const uint64_t data = (*trace)->layout().buffers[0].cpus[0].offset;
  const Everything all =
      read_file(folder.write("cut.dat", whole.substr(0, data + (whole.size() - data) / 2)));
  EXPECT_GT(all.events.size(), 1000u);
  EXPECT_LT(all.events.size(), 3000u);
  EXPECT_FALSE(all.problems.empty());
}

TEST_P(WriterTest, OptionsCanBeAddedLater) {
  const DatMaker dat = maker(2, 3, 5);
  write(dat);
  for (int round = 1; round <= 3; ++round) {
    ByteWriter text(GetParam().order);
    text.string("round " + std::to_string(round));
    const Status added = append_options(
        path, {{OptionId::Hook, text.bytes()}, {static_cast<OptionId>(777), text.bytes()}});
    ASSERT_TRUE(added) << added.error().text();
    auto trace = TraceDat::open(path);
    ASSERT_TRUE(trace) << trace.error().text();
    int found = 0;
    for (const Option& option : (*trace)->layout().options)
      if (option.id == OptionId::Hook || static_cast<uint16_t>(option.id) == 777) ++found;
    EXPECT_EQ(found, round * 2);
    EXPECT_EQ(read_events(**trace).events, expected(dat).events);
    EXPECT_TRUE((*trace)->problems().empty());
  }
}

TEST_P(WriterTest, OptionsCanBeAddedToOthersFiles) {
  DatMaker dat = maker(1, 1, 5);
  dat.later_options = {{5, std::vector<std::byte>(8)}};
  const std::string other = folder.write("by-hand.dat", dat.version_7());
  ASSERT_TRUE(append_options(other, {{OptionId::Offset, {std::byte{'5'}, std::byte{0}}}}));
  const Everything all = read_file(other);
  ASSERT_EQ(all.events.size(), 5u);
  EXPECT_EQ(all.events[0].time, 1'000'005);
}

TEST_P(WriterTest, OptionsCannotBeAddedToVersion6OrToOtherFiles) {
  const DatMaker dat = maker(1, 1, 1);
  const auto bytes = dat.version_6();
  const std::string old = folder.write("6.dat", bytes);
  EXPECT_FALSE(append_options(old, {{OptionId::Hook, {}}}));
  EXPECT_EQ(test::read_whole_file(old), as_text(bytes)) << "and they stay as they are";
  EXPECT_FALSE(append_options(folder.write("text", "some text"), {{OptionId::Hook, {}}}));
  EXPECT_FALSE(append_options(folder.file("missing"), {{OptionId::Hook, {}}}));
}

}  // namespace
}  // namespace strata::tracedat
