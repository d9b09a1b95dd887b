// SPDX-License-Identifier: Apache-2.0
#include "recording/finish.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "recording/recording_maker.h"
#include "support/temporary_folder.h"

namespace strata::recording {
namespace {

using std::filesystem::exists;
using test::make_recording;
using test::TemporaryFolder;

TEST(FinishRecording, WhatWasHalfDeletedIsDeleted) {
  const TemporaryFolder folder;
  make_recording(folder.path() + "/1", 100, 200, "enabled sched_switch");
  make_recording(folder.path() + "/.0.deleted", 0, 100, "enabled sched_switch");
  make_recording(folder.path() + "/.somebody's", 0, 100, "enabled sched_switch");
  ASSERT_TRUE(finish_recording(folder.path(), {}));
  EXPECT_TRUE(exists(folder.path() + "/1/recording.json"));
  EXPECT_TRUE(exists(folder.path() + "/.somebody's/recording.json"));
  EXPECT_FALSE(exists(folder.path() + "/.0.deleted"));
}

}  // namespace
}  // namespace strata::recording
