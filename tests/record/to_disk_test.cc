// SPDX-License-Identifier: Apache-2.0
#include "record/to_disk.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "support/temporary_folder.h"

namespace strata::record {
namespace {

namespace fs = std::filesystem;

TEST(ToDisk, IsForWhatHasChanged) {
  const test::TemporaryFolder folder;
  const fs::path place(folder.path());
  const auto write = [&](const char* name) { std::ofstream(place / name) << "written"; };
  write("old");
  fs::last_write_time(place / "old", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto since = fs::file_time_type::clock::now() - std::chrono::minutes(1);
  EXPECT_EQ(changed_files_to_disk(folder.path(), since), 0u);
  write("new");
  write("newer");
  fs::create_directory(place / "folder");
  fs::create_symlink("/dev/null", place / "link");
  EXPECT_EQ(changed_files_to_disk(folder.path(), since), 2u);
  write("old");
  EXPECT_EQ(changed_files_to_disk(folder.path(), since), 3u);
}

TEST(ToDisk, AFolderThatIsGoneHasNothing) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(changed_files_to_disk(std::string(folder.path()) + "/none", {}), 0u);
}

}  // namespace
}  // namespace strata::record
