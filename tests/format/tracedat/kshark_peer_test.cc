// SPDX-License-Identifier: Apache-2.0
//
// What we write opens in KernelShark's library, with the same events at the same times.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "dat_maker.h"
#include "format/tracedat/convert.h"
#include "kshark_entries_peer.h"
#include "support/corpus.h"
#include "support/temporary_folder.h"
#include "trace/merge.h"

namespace strata::tracedat {
namespace {

using Entry = std::tuple<int64_t, int64_t, int64_t, std::string>;  // time, cpu, pid, event

std::vector<Entry> entries_of_kshark(const std::string& path) {
  KsharkEntry* entries = nullptr;
  const int64_t count = kshark_entries(path.c_str(), &entries);
  EXPECT_GE(count, 0) << path;
  const std::unique_ptr<KsharkEntry, decltype(&free)> owner(entries, &free);
  std::vector<Entry> all;
  for (int64_t i = 0; i < count; ++i)
    all.emplace_back(entries[i].time, entries[i].cpu, entries[i].pid, entries[i].event);
  std::ranges::sort(all);
  return all;
}

// Of the main buffer, sorted as theirs are: they do not keep the order of equal times.
std::vector<Entry> our_entries(const TraceDat& trace) {
  std::vector<Entry> all;
  trace::Merge merge(trace.open_streams());
  while (merge.next() == trace::Step::Event) {
    if (!merge.stream().buffer().empty()) continue;
    const trace::Event& event = merge.event();
    all.emplace_back(event.time.count, raw(event.cpu), raw(event.tid()),
                     event.type->system + "/" + event.type->name);
  }
  std::ranges::sort(all);
  return all;
}

class KsharkPeerTest : public testing::TestWithParam<const char*> {
 protected:
  test::TemporaryFolder folder;
};

INSTANTIATE_TEST_SUITE_P(Files, KsharkPeerTest,
                         testing::Values("lisa_sched_load", "trappy_trace", "trace2", "pair-host"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::erase_if(text, [](char c) { return !isalnum(c); });
                           return text;
                         });

TEST_P(KsharkPeerTest, ReadsWhatWeWroteAsWeReadTheOriginal) {
  const auto corpus = test::corpus();
  if (!corpus) GTEST_SKIP() << test::kNoCorpus;
  auto trace = TraceDat::open(*corpus + "/dat/" + GetParam() + ".dat");
  ASSERT_TRUE(trace) << trace.error().text();
  const std::vector<Entry> ours = our_entries(**trace);
  ASSERT_FALSE(ours.empty());
  for (Compression compression : {Compression::None, Compression::Zstd}) {
    const std::string path = folder.file("ours.dat");
    ASSERT_TRUE(convert(**trace, path, {compression, 0}));
    const std::vector<Entry> theirs = entries_of_kshark(path);
    ASSERT_EQ(theirs.size(), ours.size());
    for (size_t i = 0; i < ours.size(); ++i) ASSERT_EQ(theirs[i], ours[i]) << i;
  }
}

TEST(KsharkPeer, ReadsOurTimesThroughTheTsc) {
  const test::TemporaryFolder folder;
  DatMaker dat = dat_of_numbers(2, 3, 50);
  dat.buffers[0].clock = "x86-tsc";
  dat.add_option(4, "local [x86-tsc]");
  dat.add_option(14, [](ByteWriter& out) {
    out.u32(5'368'709);
    out.u32(24);
    out.u64(0);
  });
  auto trace = TraceDat::open(folder.write("by-hand.dat", dat.version_7()));
  ASSERT_TRUE(trace);
  ASSERT_TRUE(convert(**trace, folder.file("ours.dat"), {}));
  const std::vector<Entry> theirs = entries_of_kshark(folder.file("ours.dat"));
  EXPECT_EQ(theirs.size(), 300u);
  EXPECT_EQ(theirs, our_entries(**trace));
}

}  // namespace
}  // namespace strata::tracedat
