// SPDX-License-Identifier: Apache-2.0
#include "base/new_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/unfinished.h"
#include "support/temporary_folder.h"

namespace strata {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NewFolder, IsThereWithWhatItNeedsOnceItIsKept) {
  const test::TemporaryFolder above;
  {
    Result<NewFolder> folder = NewFolder::create(above.file("a/b/"));
    ASSERT_TRUE(folder);
    std::ofstream(above.file("a/b/file")) << "text";
    folder->keep();
  }
  EXPECT_TRUE(fs::exists(above.file("a/b/file")));
}

TEST(NewFolder, GoesWithAllThatWasMadeForIt) {
  const test::TemporaryFolder above;
  fs::create_directory(above.file("old"));
  {
    const Result<NewFolder> folder = NewFolder::create(above.file("old/../old/a/b"));
    ASSERT_TRUE(folder);
    std::ofstream(above.file("old/a/b/file")) << "text";
  }
  EXPECT_THAT(above.names(), ElementsAre("old"));
  EXPECT_TRUE(fs::is_empty(above.file("old")));
}

TEST(NewFolder, ThatHoldsSomethingOrIsNoneIsLeftAlone) {
  const test::TemporaryFolder above;
  const std::string file = above.write("file", "text");
  EXPECT_THAT(NewFolder::create(above.path()).error().cause, HasSubstr("something in this folder"));
  EXPECT_THAT(NewFolder::create(file).error().cause, HasSubstr("is no folder"));
  EXPECT_FALSE(NewFolder::create(file + "/below"));
  EXPECT_THAT(above.names(), ElementsAre("file"));
}

TEST(NewFolderDeathTest, GoesWhenASignalEndsTheProgram) {
  const test::TemporaryFolder above;
  fs::create_directory(above.file("target"));
  fs::create_directory_symlink("target", above.file("link"));
  for (const char* name : {"a/b", "link/c"}) {
    const auto interrupted = [&] {
      handle_signals();
      const Result<NewFolder> folder = NewFolder::create(above.file(name));
      std::ofstream(above.file(std::string(name) + "/file")) << "text";
      raise(SIGINT);
    };
    EXPECT_EXIT(interrupted(), testing::ExitedWithCode(128 + SIGINT), "");
  }
  EXPECT_THAT(above.names(), ElementsAre("link", "target"));
  EXPECT_TRUE(fs::is_empty(above.file("target")));
}

}  // namespace
}  // namespace strata
