// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dat_maker.h"
#include "support/temporary_folder.h"

namespace strata::tracedat {
namespace {

// Which version, which packing, which kernel.
struct Variant {
  unsigned version;
  DatMaker::Packing packing;
  ByteOrder order;
  uint8_t long_size;
};

class LayoutTest : public testing::TestWithParam<Variant> {
 protected:
  DatMaker maker() const {
    DatMaker dat = dat_of_numbers(3, 2, 5, GetParam().order, GetParam().long_size);
    dat.packing = GetParam().packing;
    return dat;
  }
  // The layout of what `dat` makes; the file stays open with the test.
  Layout layout_of(const DatMaker& dat) {
    auto opened = MappedFile::open(
        folder.write("t.dat", GetParam().version == 6 ? dat.version_6() : dat.version_7()));
    EXPECT_TRUE(opened);
    file.emplace(*std::move(opened));
    auto layout = read_layout(*file);
    EXPECT_TRUE(layout) << layout.error().text();
    return layout ? *std::move(layout) : Layout{};
  }
  test::TemporaryFolder folder;
  std::optional<MappedFile> file;
};

using Packing = DatMaker::Packing;
std::string name_of(const testing::TestParamInfo<Variant>& variant) {
  const Variant& v = variant.param;
  const char* packing = v.packing == Packing::None   ? "Plain"
                        : v.packing == Packing::Zlib ? "Zlib"
                                                     : "Zstd";
  return "Version" + std::to_string(v.version) + packing +
         (v.order == ByteOrder::Big ? "Big" : "Little") + std::to_string(v.long_size * 8);
}

class LayoutOfVersion7Test : public LayoutTest {};

constexpr Variant kVersion7[] = {{7, Packing::None, ByteOrder::Little, 8},
                                 {7, Packing::None, ByteOrder::Big, 4},
                                 {7, Packing::Zstd, ByteOrder::Little, 8},
                                 {7, Packing::Zstd, ByteOrder::Big, 8},
                                 {7, Packing::Zlib, ByteOrder::Little, 4}};
INSTANTIATE_TEST_SUITE_P(Old, LayoutTest,
                         testing::Values(Variant{6, Packing::None, ByteOrder::Little, 8},
                                         Variant{6, Packing::None, ByteOrder::Little, 4},
                                         Variant{6, Packing::None, ByteOrder::Big, 8}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(New, LayoutTest, testing::ValuesIn(kVersion7), name_of);
INSTANTIATE_TEST_SUITE_P(New, LayoutOfVersion7Test, testing::ValuesIn(kVersion7), name_of);

TEST_P(LayoutTest, SaysWhatTheFileIs) {
  const Layout layout = layout_of(maker());
  EXPECT_EQ(layout.version, GetParam().version);
  EXPECT_EQ(layout.target.order, GetParam().order);
  EXPECT_EQ(layout.target.long_size, GetParam().long_size);
  EXPECT_EQ(layout.page_size, 4096u);
  EXPECT_EQ(layout.cpus, 3u);
  EXPECT_EQ(layout.compression == Compression::None, GetParam().packing == Packing::None);
  EXPECT_TRUE(layout.problems.empty());
}

TEST_P(LayoutTest, FindsTheKernelsDescriptions) {
  const DatMaker dat = maker();
  const Layout layout = layout_of(dat);
  EXPECT_EQ(layout.header_page, dat.header_page());
  EXPECT_EQ(layout.header_event, DatMaker::header_event());
  EXPECT_EQ(layout.kallsyms, dat.kallsyms);
  EXPECT_EQ(layout.printk_formats, dat.printk);
  EXPECT_EQ(layout.cmdlines, dat.cmdlines);
  ASSERT_EQ(layout.formats.size(), 3u);
  EXPECT_EQ(layout.formats[0].system, "ftrace");
  EXPECT_EQ(layout.formats[0].text, dat.ftrace_formats[0]);
  EXPECT_EQ(layout.formats[1].system, "test");
  EXPECT_EQ(layout.formats[1].text, number_format());
  EXPECT_EQ(layout.formats[2].text, text_format());
}

TEST_P(LayoutTest, FindsThePagesOfEachCpu) {
  const Layout layout = layout_of(maker());
  ASSERT_EQ(layout.buffers.size(), 1u);
  const Buffer& buffer = layout.buffers[0];
  EXPECT_EQ(buffer.name, "");
  EXPECT_EQ(buffer.page_size, 4096u);
  EXPECT_EQ(buffer.compressed, GetParam().packing != Packing::None);
  ASSERT_EQ(buffer.cpus.size(), 3u);
  for (uint32_t cpu = 0; cpu < 3; ++cpu) {
    EXPECT_EQ(buffer.cpus[cpu].cpu, cpu);
    if (!buffer.compressed) {
      EXPECT_EQ(buffer.cpus[cpu].size, 8192u);
    }
  }
}

TEST_P(LayoutTest, KeepsEveryOption) {
  DatMaker dat = maker();
  // Every option there is but those that say where something lies; and some that there are not.
  const std::vector<uint16_t> ids = {1,  2,  2,  4,  5,  6,  7,   9,    10,
                                     11, 12, 13, 14, 24, 26, 999, 65535};
  for (uint16_t id : ids) dat.add_option(id, "the option " + std::to_string(id));
  dat.add_option(8, [](ByteWriter& out) { out.u32(7); });
  const Layout layout = layout_of(dat);
  std::vector<uint16_t> found;
  for (const Option& option : layout.options) {
    const auto id = static_cast<uint16_t>(option.id);
    if (id == 3 || (id >= 16 && id <= 21) || id == 0) continue;
    found.push_back(id);
    if (id != 8) {
      EXPECT_EQ(as_text(option.data), "the option " + std::to_string(id) + std::string(1, '\0'));
      EXPECT_EQ(as_text(file->bytes().subspan(option.offset, option.data.size())),
                as_text(option.data));
    }
  }
  std::vector<uint16_t> expected = ids;
  expected.push_back(8);
  EXPECT_EQ(found, expected);
  ASSERT_NE(layout.find(OptionId::Uname), nullptr);
  EXPECT_EQ(as_text(layout.find(OptionId::Uname)->data).substr(0, 12), "the option 5");
  EXPECT_EQ(layout.find(OptionId::BufferText), nullptr);
}

TEST_P(LayoutTest, EmptyOptionsAreOptions) {
  DatMaker dat = maker();
  dat.options.push_back({6, {}});
  const Layout layout = layout_of(dat);
  ASSERT_NE(layout.find(OptionId::Hook), nullptr);
  EXPECT_TRUE(layout.find(OptionId::Hook)->data.empty());
  EXPECT_TRUE(layout.problems.empty());
}

TEST_P(LayoutTest, SeveralInstances) {
  DatMaker dat = maker();
  DatMaker::Buffer instance;
  instance.name = "second";
  instance.clock = "mono";
  instance.cpus = {{0, {page_of_numbers(dat, 500, 3)}}, {2, {page_of_numbers(dat, 600, 3)}}};
  dat.buffers.push_back(instance);
  instance.name = "third";
  dat.buffers.push_back(instance);
  const Layout layout = layout_of(dat);
  ASSERT_EQ(layout.buffers.size(), 3u);
  std::vector<std::string> names;
  for (const Buffer& buffer : layout.buffers) names.push_back(buffer.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("", "second", "third"));
  if (GetParam().version == 7) {
    EXPECT_EQ(layout.buffers[1].clock, "mono");
  }
}

TEST_P(LayoutOfVersion7Test, OptionsInALaterSection) {
  DatMaker dat = maker();
  dat.add_option(5, "Linux");
  dat.later_options = {{12, std::vector<std::byte>(16)}, {4, std::vector<std::byte>(4)}};
  const Layout layout = layout_of(dat);
  EXPECT_NE(layout.find(OptionId::Uname), nullptr);
  EXPECT_NE(layout.find(OptionId::TimeShift), nullptr);
  EXPECT_NE(layout.find(OptionId::TraceClock), nullptr);
  EXPECT_TRUE(layout.problems.empty());
}

TEST_P(LayoutTest, TheKernelsLongIsNotTheProgramsLong) {
  // A 32-bit trace-cmd on a 64-bit kernel, and the other way around: header_page decides.
  const DatMaker dat = maker();
  auto bytes = GetParam().version == 6 ? dat.version_6() : dat.version_7();
  ASSERT_EQ(bytes[13], std::byte(dat.long_size));
  bytes[13] = std::byte(12 - dat.long_size);
  auto opened = MappedFile::open(folder.write("other.dat", bytes));
  ASSERT_TRUE(opened);
  auto layout = read_layout(*opened);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->target.long_size, GetParam().long_size);
  EXPECT_EQ(layout->user_long_size, 12 - dat.long_size);
}

TEST_P(LayoutOfVersion7Test, TheBufferTellsItsOwnPageSize) {
  DatMaker dat = maker();
  dat.buffers[0].page_size = 16384;
  dat.buffers[0].cpus = {{1, {page_of_numbers(dat, 1, 3, 1, 16384)}}};
  const Layout layout = layout_of(dat);
  ASSERT_EQ(layout.buffers.size(), 1u);
  EXPECT_EQ(layout.buffers[0].page_size, 16384u);
  EXPECT_EQ(layout.page_size, 4096u);
  ASSERT_EQ(layout.buffers[0].cpus.size(), 1u);
  EXPECT_EQ(layout.buffers[0].cpus[0].cpu, 1u) << "CPUs without data are left out";
}

TEST(Layout, OtherFilesAreRefused) {
  const test::TemporaryFolder folder;
  const auto good = empty_dat().version_7();
  auto with = [&](size_t at, char value) {
    auto bytes = good;
    bytes[at] = std::byte(value);
    return bytes;
  };
  const std::vector<std::vector<std::byte>> all = {
      {},
      std::vector<std::byte>(1),
      std::vector<std::byte>(100'000),
      {good.begin(), good.begin() + 10},
      with(0, 'x'),   // not the magic number
      with(10, '5'),  // version
      with(10, '8'),  // version
      with(12, 2),    // byte order
      with(17, 127),  // page size
  };
  for (size_t i = 0; i < all.size(); ++i) {
    auto file = MappedFile::open(folder.write("other", all[i]));
    ASSERT_TRUE(file);
    auto layout = read_layout(*file);
    ASSERT_FALSE(layout) << i;
    EXPECT_EQ(layout.error().file, folder.file("other"));
    EXPECT_FALSE(layout.error().cause.empty());
  }
}

TEST(Layout, ALatencyTraceIsText) {
  // Version 6: instead of "flyrecord", and the rest of the file.
  DatMaker dat = empty_dat();
  auto bytes = dat.version_6();
  const std::string text(as_text(bytes));
  const size_t tag = text.find("flyrecord");
  ASSERT_NE(tag, std::string::npos);
  const test::TemporaryFolder folder;
  auto file = MappedFile::open(folder.write(
      "t.dat", text.substr(0, tag) + std::string("latency  \0", 10) + "# tracer: irqsoff\n"));
  ASSERT_TRUE(file);
  auto layout = read_layout(*file);
  ASSERT_TRUE(layout) << layout.error().text();
  EXPECT_EQ(layout->latency_text, "# tracer: irqsoff\n");
}

TEST(Layout, TheClockBehindTheOffsetsOfVersion6IsNotData) {
  // Where there is an option TRACECLOCK, older writers put the clock's text after the last CPU.
  DatMaker dat = dat_of_numbers(2, 1, 3);
  dat.add_option(4, "[local] global");
  std::string text(as_text(dat.version_6()));
  const size_t end = text.find(std::string("flyrecord\0", 10)) + 10 + 2 * 16;
  const std::string clock("\x07\0\0\0\0\0\0\0[local]", 15);
  ASSERT_LT(end + clock.size(), 4096u);
  text.replace(end, clock.size(), clock);
  const test::TemporaryFolder folder;
  auto file = MappedFile::open(folder.write("t.dat", text));
  ASSERT_TRUE(file);
  auto layout = read_layout(*file);
  ASSERT_TRUE(layout);
  ASSERT_EQ(layout->buffers.size(), 1u);
  EXPECT_EQ(layout->buffers[0].cpus.size(), 2u);
  EXPECT_TRUE(layout->problems.empty());
}

}  // namespace
}  // namespace strata::tracedat
