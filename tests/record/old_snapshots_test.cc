// SPDX-License-Identifier: Apache-2.0
#include "record/old_snapshots.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/folder_size.h"
#include "recording/open.h"
#include "recording/recording_maker.h"
#include "support/temporary_folder.h"

namespace strata::record {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class OldSnapshots : public testing::Test {
 protected:
  OldSnapshots() {
    for (const int64_t second : {1, 2, 3})
      test::make_recording(path(std::to_string(second)), 0, second * 1'000'000'000,
                           "snapshot: SIGUSR1");
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::vector<std::string> left() const { return recording::recordings_at(folder_.path()); }

  test::TemporaryFolder folder_;
};

TEST_F(OldSnapshots, WithoutLimitsAllStay) {
  delete_old_snapshots(folder_.path(), {}, INT64_MAX);
  EXPECT_THAT(left(), SizeIs(3));
}

TEST_F(OldSnapshots, ThoseOlderThanTheTimeGo) {
  delete_old_snapshots(folder_.path(), {std::chrono::seconds(1), {}}, 3'000'000'000);
  EXPECT_THAT(left(), ElementsAre(path("2"), path("3")));
}

TEST_F(OldSnapshots, TheOldestGoWhereTheyTakeTooMuch) {
  delete_old_snapshots(folder_.path(), {{}, 2 * folder_size(path("1"))}, 0);
  EXPECT_THAT(left(), ElementsAre(path("2"), path("3")));
}

TEST_F(OldSnapshots, TheNewestStays) {
  delete_old_snapshots(folder_.path(), {std::chrono::seconds(1), 0}, INT64_MAX);
  EXPECT_THAT(left(), ElementsAre(path("3")));
}

TEST_F(OldSnapshots, OtherRecordingsStay) {
  test::make_recording(path("0"), 0, 1, "enabled sched_switch");
  std::filesystem::create_directory(path("mine"));
  delete_old_snapshots(folder_.path(), {{}, 0}, 0);
  EXPECT_THAT(left(), ElementsAre(path("0"), path("3")));
  EXPECT_TRUE(std::filesystem::exists(path("mine")));
}

}  // namespace
}  // namespace strata::record
