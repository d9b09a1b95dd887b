// SPDX-License-Identifier: Apache-2.0
#include "recording/open.h"

#include <gmock/gmock.h>

#include "recording/recording_maker.h"
#include "support/temporary_folder.h"

namespace strata::recording {
namespace {

using test::make_recording;
using test::TemporaryFolder;
using testing::HasSubstr;

TEST(OpenTraces, SnapshotsThatOverlapAreNotOneRecording) {
  const TemporaryFolder folder;
  make_recording(folder.path() + "/1", 100, 200, "snapshot: SIGUSR1");
  make_recording(folder.path() + "/2", 150, 250, "snapshot: SIGUSR1");
  const auto opened = open_traces(folder.path());
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text(),
              HasSubstr("name one of them, such as " + folder.path() + "/2"));
  EXPECT_TRUE(open_traces(folder.path() + "/1"));
}

TEST(OpenTraces, SnapshotsFarApartAreOne) {
  const TemporaryFolder folder;
  make_recording(folder.path() + "/1", 100, 200, "snapshot: SIGUSR1");
  make_recording(folder.path() + "/2", 200, 300, "snapshot: SIGUSR1");
  EXPECT_TRUE(open_traces(folder.path()));
}

TEST(OpenTraces, ChunksAreOneWhateverTheirEdges) {
  const TemporaryFolder folder;
  make_recording(folder.path() + "/1", 100, 201, "enabled sched_switch");
  make_recording(folder.path() + "/2", 200, 300, "enabled sched_switch");
  EXPECT_TRUE(open_traces(folder.path()));
}

}  // namespace
}  // namespace strata::recording
