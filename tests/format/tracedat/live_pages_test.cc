// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/live_pages.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "support/temporary_folder.h"

namespace strata::tracedat {
namespace {

constexpr uint32_t kPage = 16;

// A recorder that tells what it is told to tell.
class Recorder {
 public:
  std::string path(const std::string& trace) const { return folder_.file(trace); }
  void write(const std::string& trace, uint32_t cpu, const std::string& pages) const {
    std::ofstream out(path(trace) + ".cpu" + std::to_string(cpu), std::ios::binary | std::ios::app);
    out << pages;
  }
  LivePages follow(LivePages::From from) {
    return LivePages([this] { return growth; }, from);
  }
  // Until the recorder is asked again.
  static void refresh(LivePages& live) {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    live.refresh();
  }

  std::optional<LivePages::Growth> growth;

 private:
  test::TemporaryFolder folder_;
};

std::string next(LivePages& live, uint32_t cpu) {
  std::vector<std::byte> page;
  return live.read_page(cpu, page, kPage) ? std::string(as_text(page)) : "";
}

TEST(LivePages, GivesWhatIsToldToBeWrittenAndNoMore) {
  Recorder recorder;
  recorder.write("a", 0, std::string(kPage, '1') + std::string(kPage, '2') + "12345");
  recorder.growth = LivePages::Growth{recorder.path("a"), {{0, kPage}}, Ticks{100}};
  LivePages live = recorder.follow(LivePages::From::Beginning);
  EXPECT_EQ(next(live, 0), std::string(kPage, '1'));
  EXPECT_EQ(next(live, 0), "") << "more is there, but may not be whole";
  EXPECT_EQ(live.until(), Ticks{100});
  recorder.growth->written[0] = 2 * kPage;
  recorder.growth->until = Ticks{200};
  Recorder::refresh(live);
  EXPECT_EQ(next(live, 0), std::string(kPage, '2'));
  EXPECT_EQ(next(live, 0), "");
  EXPECT_EQ(live.until(), Ticks{200});
}

TEST(LivePages, FromNowOnLeavesOutWhatWasThere) {
  Recorder recorder;
  recorder.write("a", 0, std::string(kPage, '1'));
  recorder.growth = LivePages::Growth{recorder.path("a"), {{0, kPage}}, {}};
  LivePages live = recorder.follow(LivePages::From::Now);
  EXPECT_EQ(next(live, 0), "");
  recorder.write("a", 0, std::string(kPage, '2'));
  recorder.growth->written[0] = 2 * kPage;
  Recorder::refresh(live);
  EXPECT_EQ(next(live, 0), std::string(kPage, '2'));
}

TEST(LivePages, GoesOnInTheFilesOfAnotherPath) {
  Recorder recorder;
  recorder.write("a", 0, std::string(kPage, '1'));
  recorder.growth = LivePages::Growth{recorder.path("a"), {{0, kPage}}, {}};
  LivePages live = recorder.follow(LivePages::From::Beginning);
  recorder.write("a", 0, std::string(kPage, '2'));
  recorder.write("b", 0, std::string(kPage, '3'));
  recorder.growth = LivePages::Growth{recorder.path("b"), {{0, kPage}}, {}};
  Recorder::refresh(live);
  for (const char digit : {'1', '2', '3'}) EXPECT_EQ(next(live, 0), std::string(kPage, digit));
  EXPECT_EQ(next(live, 0), "");
}

TEST(LivePages, WhenItHasEndedAllThatIsThereCounts) {
  Recorder recorder;
  recorder.write("a", 3, std::string(kPage, '1'));
  recorder.growth = LivePages::Growth{recorder.path("a"), {{3, kPage}}, {}};
  LivePages live = recorder.follow(LivePages::From::Beginning);
  recorder.write("a", 3, std::string(kPage, '2') + "half");
  recorder.growth.reset();
  Recorder::refresh(live);
  EXPECT_TRUE(live.has_ended());
  EXPECT_EQ(next(live, 3), std::string(kPage, '1'));
  EXPECT_EQ(next(live, 3), std::string(kPage, '2'));
  EXPECT_EQ(next(live, 3), "");
}

}  // namespace
}  // namespace strata::tracedat
