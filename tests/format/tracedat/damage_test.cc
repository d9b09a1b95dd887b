// SPDX-License-Identifier: Apache-2.0
//
// Files that are cut off, altered, or change while they are read: events so far and an error that
// names file, offset and reason; never a crash, a hang or an over-read.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <map>

#include "dat_maker.h"
#include "read_events.h"
#include "support/temporary_folder.h"
#include "trace/merge.h"

namespace strata::tracedat {
namespace {

using Packing = DatMaker::Packing;

struct Variant {
  const char* name;
  unsigned version;
  Packing packing;
};

class DamageTest : public testing::TestWithParam<Variant> {
 protected:
  static std::vector<std::byte> bytes_of(DatMaker dat) {
    dat.packing = GetParam().packing;
    dat.chunk_pages = 2;
    return GetParam().version == 6 ? dat.version_6() : dat.version_7();
  }
  // With all that a reader follows: instances, options, losses, texts.
  static DatMaker small() {
    DatMaker dat = dat_of_numbers(2, 2, 4);
    dat.kallsyms.clear();
    dat.buffers[0].cpus[0].pages.push_back(test::RingPageMaker(2'000'000)
                                               .data(0, text_record("text"))
                                               .time_extend(uint64_t{1} << 30)
                                               .data(0, number_record(1))
                                               .lost(3)
                                               .page());
    dat.buffers.push_back({"other", "local", 4096, {{0, {page_of_numbers(dat, 5, 2)}}}});
    dat.add_option(4, "[local] global");
    dat.add_option(7, "0");
    dat.add_option(14, [](ByteWriter& out) {
      out.u32(1 << 20);
      out.u32(20);
      out.u64(0);
    });
    dat.add_option(12, [](ByteWriter& out) {
      out.u64(1);
      out.u32(1);
      out.u32(1);
      out.u32(1);
      for (uint64_t n : {0, 0, 1, 0}) out.u64(n);
    });
    return dat;
  }
  void expect_told(const Everything& all, const std::string& path, uint64_t size) {
    for (const Error& problem : all.problems) {
      ASSERT_EQ(problem.file, path);
      ASSERT_FALSE(problem.cause.empty());
      ASSERT_LE(problem.offset.value_or(0), size);
    }
  }
  test::TemporaryFolder folder;
};

INSTANTIATE_TEST_SUITE_P(Files, DamageTest,
                         testing::Values(Variant{"Version6", 6, Packing::None},
                                         Variant{"Version7", 7, Packing::None},
                                         Variant{"Version7Zstd", 7, Packing::Zstd},
                                         Variant{"Version7Zlib", 7, Packing::Zlib}),
                         [](const auto& variant) { return variant.param.name; });

// The events of each stream, without texts: those depend on formats that may be gone.
using Streams = std::map<std::pair<std::string, uint32_t>, std::vector<int64_t>>;
Streams by_stream(const Everything& all) {
  Streams streams;
  for (const Seen& seen : all.events) streams[{seen.buffer, seen.cpu}].push_back(seen.time);
  return streams;
}

TEST_P(DamageTest, CutOffAtAnyByteItGivesWhatIsThereAndSaysSo) {
  const auto bytes = bytes_of(small());
  const std::string path = folder.write("cut.dat", bytes);
  const Everything whole = read_file(path);
  ASSERT_TRUE(whole.problems.empty()) << whole.problems[0].text();
  ASSERT_EQ(whole.events.size(), 20u);
  Streams expected = by_stream(whole);
  for (size_t size = bytes.size(); size-- > 0;) {
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(size)), 0);
    const Everything all = read_file(path);
    ASSERT_FALSE(all.problems.empty()) << "silent at " << size << " of " << bytes.size();
    ASSERT_NO_FATAL_FAILURE(expect_told(all, path, bytes.size()));
    for (const auto& [stream, times] : by_stream(all)) {
      const auto& full = expected[stream];
      ASSERT_LE(times.size(), full.size()) << size;
      ASSERT_TRUE(std::equal(times.begin(), times.end(), full.begin())) << size;
    }
  }
}

TEST_P(DamageTest, AnyBitMayFlip) {
  const auto good = bytes_of(small());
  const std::string path = folder.write("flipped.dat", good);
  auto bytes = good;
  // Every byte of what describes the file, and some of the rest; a different bit each time.
  const size_t dense = GetParam().packing == Packing::None ? 3000 : good.size();
  for (size_t at = 0; at < good.size(); at += at < dense ? 1 : 37) {
    for (const size_t bit : {at % 8, (at + 3) % 8}) {
      bytes[at] ^= std::byte(1 << bit);
      folder.write("flipped.dat", bytes);
      const Everything all = read_file(path, 10'000);
      ASSERT_LT(all.events.size(), 10'000u) << at;
      ASSERT_NO_FATAL_FAILURE(expect_told(all, path, UINT64_MAX));
      bytes[at] = good[at];
    }
  }
}

TEST_P(DamageTest, AnyFourBytesMayBeAnything) {
  // Counts, sizes and offsets that are enormous, or just too large.
  const auto good = bytes_of(small());
  const std::string path = folder.file("altered.dat");
  const auto start = std::chrono::steady_clock::now();
  for (const uint32_t value : {0xffffffffu, 0x7fffffffu, 0x00100000u, 0u}) {
    auto bytes = good;
    for (size_t at = 12; at + 4 <= std::min<size_t>(good.size(), 2600); ++at) {
      std::memcpy(bytes.data() + at, &value, 4);
      folder.write("altered.dat", bytes);
      const Everything all = read_file(path, 10'000);
      ASSERT_LT(all.events.size(), 10'000u) << at;
      ASSERT_NO_FATAL_FAILURE(expect_told(all, path, UINT64_MAX));
      std::memcpy(bytes.data() + at, good.data() + at, 4);
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(2));
}

// Reads `before` events, cuts the file, reads the rest.
TEST_P(DamageTest, AFileThatIsCutWhileItIsReadGivesEventsSoFarAndAProblem) {
  const DatMaker dat = dat_of_numbers(2, 60, 40);
  const auto bytes = bytes_of(dat);
  const std::vector<Seen> whole = read_file(folder.write("whole.dat", bytes)).events;
  ASSERT_EQ(whole.size(), 2u * 60 * 40);
  for (const size_t before : {1, 40, 81, 2000, 4700})
    for (const double keep : {0.0, 0.3, 0.6, 0.95}) {
      const std::string path = folder.write("shrinks.dat", bytes);
      auto trace = TraceDat::open(path);
      ASSERT_TRUE(trace);
      trace::Merge merge((*trace)->open_streams());
      std::map<uint32_t, uint64_t> count;
      const auto size = static_cast<off_t>(static_cast<double>(bytes.size()) * keep);
      for (size_t i = 0;; ++i) {
        if (i == before) {
          ASSERT_EQ(truncate(path.c_str(), size), 0);
        }
        if (merge.next() != trace::Step::Event) break;
        const uint32_t cpu = raw(merge.event().cpu);
        // Exactly the events of the whole file, in their order, none skipped and none made up.
        ASSERT_EQ(merge.event().time.count,
                  1'000'000 + cpu + static_cast<int64_t>(count[cpu]++) * 2);
        if (i < before) {
          ASSERT_EQ(merge.event().time.count, whole[i].time);
        }
      }
      for (const auto& stream : merge.streams()) {
        if (count[raw(stream->cpu())] == 60u * 40) continue;
        ASSERT_TRUE(stream->problem()) << "cpu " << raw(stream->cpu()) << ", " << before << ", "
                                       << keep << ": silent after " << count[raw(stream->cpu())];
        EXPECT_EQ(stream->problem()->file, path);
        EXPECT_FALSE(stream->problem()->cause.empty());
      }
    }
}

TEST_P(DamageTest, AFileThatIsCutAtItsLastPageIsToldToo) {
  const auto bytes = bytes_of(dat_of_numbers(1, 2, 40));
  const std::string path = folder.write("shrinks.dat", bytes);
  auto trace = TraceDat::open(path);
  ASSERT_TRUE(trace);
  const auto streams = (*trace)->open_streams();
  ASSERT_EQ(streams[0]->next(), trace::Step::Event);
  // What is cut is the second page; of compressed files, which are read by chunks, all.
  const size_t page = as_text(bytes).rfind(as_text(number_record(1'000'040)));
  const bool plain = GetParam().packing == Packing::None;
  ASSERT_EQ(truncate(path.c_str(), plain ? static_cast<off_t>(page / 4096 * 4096) : 0), 0);
  size_t events = 1;
  while (streams[0]->next() == trace::Step::Event) ++events;
  if (plain) {
    EXPECT_EQ(events, 40u);
  }
  if (events < 80) {
    EXPECT_TRUE(streams[0]->problem());
  }
}

}  // namespace
}  // namespace strata::tracedat
