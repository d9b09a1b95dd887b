// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/finish.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "format/tracedat/cpu_pages.h"
#include "support/temporary_folder.h"
#include "trace/merge.h"

namespace strata::tracedat {
namespace {

constexpr const char* kSample = STRATA_SOURCE_DIR "/samples/first.dat";

uint64_t checksum(const TraceDat& trace, uint64_t& events) {
  trace::Merge merge(trace.open_streams());
  uint64_t sum = 0;
  for (events = 0; merge.next() == trace::Step::Event; ++events)
    sum = sum * 31 + raw(merge.event().ticks) + merge.event().record.size();
  return sum;
}

// The sample as it would have been while it was recorded: a head, and each CPU's pages beside it.
class Unfinished : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<TraceDat>> sample = TraceDat::open(kSample);
    ASSERT_TRUE(sample) << sample.error().text();
    sum_ = checksum(**sample, events_);
    path_ = folder_.file("host.dat");
    Result<Writer> head =
        Writer::create(path_, head_of(**sample), {.compression = Compression::None});
    ASSERT_TRUE(head);
    ASSERT_TRUE(head->finish());
    for (const Buffer& buffer : (*sample)->layout().buffers) {
      page_size_ = buffer.page_size;
      for (const CpuData& data : buffer.cpus) {
        std::ofstream out(TraceDat::page_file_name(path_, data.cpu), std::ios::binary);
        CpuPages pages((*sample)->file(), (*sample)->layout(), buffer, data);
        while (pages.next() == CpuPages::Step::Page) out << as_text(pages.page());
        cpus_.push_back(data.cpu);
      }
    }
    ASSERT_GT(events_, 0u);
    ASSERT_FALSE(cpus_.empty());
  }

  void append_to_first(const std::string& bytes) {
    std::ofstream out(TraceDat::page_file_name(path_, cpus_[0]), std::ios::binary | std::ios::app);
    out << bytes;
  }

  void expect_whole(bool unfinished) {
    const Result<std::unique_ptr<TraceDat>> trace = TraceDat::open(path_);
    ASSERT_TRUE(trace) << trace.error().text();
    EXPECT_EQ((*trace)->is_unfinished(), unfinished);
    EXPECT_EQ((*trace)->info().warning.empty(), !unfinished);
    uint64_t events = 0;
    EXPECT_EQ(checksum(**trace, events), sum_);
    EXPECT_EQ(events, events_);
  }

  test::TemporaryFolder folder_;
  std::string path_;
  std::vector<uint32_t> cpus_;
  uint32_t page_size_ = 4096;
  uint64_t events_ = 0;
  uint64_t sum_ = 0;
};

TEST_F(Unfinished, OpensWithEverythingThatIsThere) { expect_whole(true); }

TEST_F(Unfinished, APageThatIsNotWholeYetIsLeftAlone) {
  append_to_first(std::string(page_size_ / 2, 'x'));
  expect_whole(true);
}

TEST_F(Unfinished, ZerosAtTheEndAreNoEvents) {
  append_to_first(std::string(size_t{3} * page_size_, '\0'));
  expect_whole(true);
  ASSERT_TRUE(finish(path_, {.compression = Compression::None}));
  expect_whole(false);
}

TEST_F(Unfinished, BecomesOneFile) {
  ASSERT_TRUE(finish(path_, {.compression = Compression::None}));
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"host.dat"});
  expect_whole(false);
}

TEST_F(Unfinished, BecomesOneCompressedFile) {
  uint64_t last = 0;
  uint64_t total = 0;
  ASSERT_TRUE(finish(path_, {.compression = Compression::Zstd}, {},
                     [&](uint64_t done, uint64_t all) { last = done, total = all; }));
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"host.dat"});
  EXPECT_EQ(last, total);
  expect_whole(false);
}

TEST_F(Unfinished, PagesThatWereCompressedBeforeAreNotCompressedAgain) {
  Ending ending;
  for (const uint32_t cpu : cpus_) {
    const std::string pages = TraceDat::page_file_name(path_, cpu);
    Result<PagePacker> packer = PagePacker::create(cpu, pages, page_size_);
    ASSERT_TRUE(packer);
    EXPECT_TRUE(packer->pack(page_size_, 10)) << "as much as was said to be there";
    EXPECT_FALSE(packer->pack(page_size_ + 100, 10)) << "whole chunks alone";
    EXPECT_EQ(packer->packed().chunks, 1u);
    ending.packed.push_back(packer->packed());
  }
  ASSERT_TRUE(finish(path_, {.compression = Compression::Zstd}, ending));
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"host.dat"});
  expect_whole(false);
}

TEST_F(Unfinished, WhatAKilledRecorderHadCompressedIsNotUsed) {
  folder_.write("host.dat.cpu0.zst", "half of a chu");
  ASSERT_TRUE(finish(path_, {.compression = Compression::Zstd}));
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"host.dat"});
  expect_whole(false);
}

TEST_F(Unfinished, RoomThatWasMadeAheadIsNoPart) {
  const std::string pages = TraceDat::page_file_name(path_, cpus_[0]);
  const uint64_t size = std::filesystem::file_size(pages);
  std::filesystem::resize_file(pages, size + (uint64_t{64} << 20));
  const Result<std::unique_ptr<TraceDat>> trace = TraceDat::open(path_);
  ASSERT_TRUE(trace);
  EXPECT_LE((*trace)->layout().buffers[0].cpus[0].size, size + (1 << 20));
  expect_whole(true);
}

TEST_F(Unfinished, WhatIsKnownAtTheEndTakesThePlaceOfWhatWasThought) {
  const Ending ending{{text_option(OptionId::Uname, "Linux after 9.9 x86_64")}, "4711 late\n"};
  ASSERT_TRUE(finish(path_, {.compression = Compression::Zstd}, ending));
  const Result<std::unique_ptr<TraceDat>> trace = TraceDat::open(path_);
  ASSERT_TRUE(trace);
  EXPECT_EQ((*trace)->info().machine, "after");
  EXPECT_EQ((*trace)->task_names().find(Tid{4711}), "late");
}

TEST_F(Unfinished, FilesOfPagesThatAFinishedTraceLeftBehindAreRemoved) {
  const std::string page_file = TraceDat::page_file_name(path_, cpus_[0]);
  const std::string pages = test::read_whole_file(page_file);
  ASSERT_TRUE(finish(path_, {.compression = Compression::Zstd}));
  folder_.write("host.dat.cpu" + std::to_string(cpus_[0]), pages);
  expect_whole(false);  // they do not count
  ASSERT_TRUE(finish(path_, {.compression = Compression::Zstd}));
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"host.dat"});
  expect_whole(false);
}

}  // namespace
}  // namespace strata::tracedat
