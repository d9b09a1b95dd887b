// SPDX-License-Identifier: Apache-2.0
#include "record/chunks.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "recording/description.h"
#include "recording/open.h"
#include "support/temporary_folder.h"

namespace strata::record {
namespace {

using namespace std::chrono_literals;

using Time = std::chrono::steady_clock::time_point;

// A chunk of this size that ended at that time, without any part.
EndedChunk ended_chunk(const std::string& name, const std::string& folder, size_t size,
                       std::chrono::seconds end = 1s) {
  const std::string path = folder + "/" + name;
  std::filesystem::create_directory(path);
  recording::Description description;
  description.sessions.push_back({"test", "root", 1, 2, {}, {}});
  EXPECT_TRUE(recording::write_description(path, description));
  std::ofstream(path + "/filling") << std::string(size, 'x');
  return {path, Time(end), {}, {}};
}

std::vector<std::string> kept(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& path : recording::recordings_at(folder))
    names.push_back(std::filesystem::path(path).filename());
  return names;
}

TEST(Chunks, AChunkEndsAfterATenthOfWhatIsKept) {
  const Chunks by_time("", {.time = 100s, .bytes = {}}, true);
  EXPECT_FALSE(by_time.should_end(9s, uint64_t{1} << 40));
  EXPECT_TRUE(by_time.should_end(10s, 0));
  const Chunks by_size("", {.time = {}, .bytes = uint64_t{100} << 20}, true);
  EXPECT_FALSE(by_size.should_end(1h, (10 << 20) - 1));
  EXPECT_TRUE(by_size.should_end(0s, 10 << 20));
}

TEST(Chunks, AChunkIsNotTooSmallForItsHead) {
  const Chunks chunks("", {.time = 1s, .bytes = 1}, true);
  EXPECT_FALSE(chunks.should_end(999ms, 0));
  EXPECT_FALSE(chunks.should_end(0s, (4 << 20) - 1));
  EXPECT_TRUE(chunks.should_end(1s, 0));
}

TEST(Chunks, TheOldestGoesWhenThereIsTooMuch) {
  const test::TemporaryFolder folder;
  Chunks chunks(folder.path(), {.time = {}, .bytes = 50'000}, true);
  chunks.start();
  for (int i = 1; i <= 4; ++i) chunks.finish(ended_chunk(std::to_string(i), folder.path(), 20'000));
  EXPECT_TRUE(chunks.finish_all({}));
  chunks.delete_old(Time(2s));
  EXPECT_THAT(kept(folder.path()), testing::ElementsAre("3", "4"));
}

TEST(Chunks, WhatEndedTooLongAgoGoes) {
  const test::TemporaryFolder folder;
  Chunks chunks(folder.path(), {.time = 100s, .bytes = {}}, true);
  chunks.start();
  for (const int end : {1000, 1050, 1100})
    chunks.finish(ended_chunk(std::to_string(end), folder.path(), 10, std::chrono::seconds(end)));
  EXPECT_TRUE(chunks.finish_all({}));
  chunks.delete_old(Time(1150s));
  EXPECT_THAT(kept(folder.path()), testing::ElementsAre("1050", "1100"));
}

TEST(Chunks, WhatIsRecordedCountsAndTheLastOneStays) {
  const test::TemporaryFolder folder;
  Chunks chunks(folder.path(), {.time = {}, .bytes = 50'000}, true);
  chunks.start();
  chunks.finish(ended_chunk("1", folder.path(), 20'000));
  chunks.finish(ended_chunk("2", folder.path(), 20'000));
  EXPECT_TRUE(chunks.finish_all({}));
  chunks.delete_old(Time(2s));
  EXPECT_THAT(kept(folder.path()), testing::ElementsAre("1", "2"));
  (void)ended_chunk("3", folder.path(), 100'000);  // which nobody has handed over
  chunks.delete_old(Time(2s));
  EXPECT_THAT(kept(folder.path()), testing::ElementsAre("2", "3"));
}

TEST(Chunks, WhatIsBeingDeletedIsNoRecording) {
  const test::TemporaryFolder folder;
  (void)ended_chunk(".1", folder.path(), 10);
  (void)ended_chunk("2", folder.path(), 10);
  EXPECT_THAT(kept(folder.path()), testing::ElementsAre("2"));
}

TEST(Chunks, WhatCannotBeFinishedIsToldAndStays) {
  const test::TemporaryFolder folder;
  Chunks chunks(folder.path(), {.time = 1h, .bytes = {}}, true);
  chunks.start();
  EndedChunk broken = ended_chunk("1", folder.path(), 10);
  std::ofstream(broken.folder + "/" + recording::kDescriptionName) << "no JSON";
  chunks.finish(std::move(broken));
  chunks.finish(ended_chunk("2", folder.path(), 10));
  EXPECT_FALSE(chunks.finish_all({}));
  EXPECT_EQ(chunks.problems().size(), 1);
  EXPECT_THAT(kept(folder.path()), testing::ElementsAre("1", "2"));
}

}  // namespace
}  // namespace strata::record
