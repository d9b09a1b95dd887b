// SPDX-License-Identifier: Apache-2.0
#include "base/new_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "support/temporary_folder.h"

namespace strata {
namespace {

class NewFileTest : public testing::Test {
 protected:
  using Names = std::vector<std::string>;
  test::TemporaryFolder folder;
  std::string path = folder.file("new.dat");
};

TEST_F(NewFileTest, AppearsWhenItIsPublished) {
  auto file = NewFile::create(path);
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_TRUE(file->append(as_bytes("one, ")));
  ASSERT_TRUE(file->append(as_bytes("two")));
  EXPECT_NE(access(path.c_str(), F_OK), 0) << "not before";
  ASSERT_TRUE(file->publish());
  EXPECT_EQ(test::read_whole_file(path), "one, two");
  EXPECT_EQ(folder.names(), Names{"new.dat"});
}

TEST_F(NewFileTest, LeavesNothingBehindWhenItIsGivenUp) {
  {
    auto file = NewFile::create(path);
    ASSERT_TRUE(file);
    const std::string much(10'000'000, 'x');
    ASSERT_TRUE(file->append(as_bytes(much)));
  }
  EXPECT_EQ(folder.names(), Names{});
}

TEST_F(NewFileTest, ReplacesTheOldOneOnlyWhenItIsWhole) {
  folder.write("new.dat", "old");
  {
    auto given_up = NewFile::create(path);
    ASSERT_TRUE(given_up);
    ASSERT_TRUE(given_up->append(as_bytes("half")));
  }
  EXPECT_EQ(test::read_whole_file(path), "old");
  auto file = NewFile::create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->append(as_bytes("new")));
  EXPECT_EQ(test::read_whole_file(path), "old");
  ASSERT_TRUE(file->publish());
  EXPECT_EQ(test::read_whole_file(path), "new");
  EXPECT_EQ(folder.names(), Names{"new.dat"});
}

TEST_F(NewFileTest, WhatWasAppendedCanBeOverwritten) {
  auto file = NewFile::create(path);
  ASSERT_TRUE(file);
  std::string expected(3'000'000, '.');
  ASSERT_TRUE(file->append(as_bytes(expected)));
  ASSERT_TRUE(file->append(as_bytes("the end")));
  expected += "the end";
  for (size_t at : {size_t{0}, size_t{1'000'000}, expected.size() - 7, expected.size() - 3}) {
    ASSERT_TRUE(file->overwrite(at, as_bytes("xyz")));
    expected.replace(at, 3, "xyz");
  }
  // Across the border of what may be in memory still.
  ASSERT_TRUE(file->overwrite(2'999'990, as_bytes("0123456789ABC")));
  expected.replace(2'999'990, 13, "0123456789ABC");
  EXPECT_EQ(file->size(), expected.size());
  ASSERT_TRUE(file->publish());
  EXPECT_EQ(test::read_whole_file(path), expected);
}

TEST_F(NewFileTest, AlignsWithZeros) {
  auto file = NewFile::create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->align(8));
  EXPECT_EQ(file->size(), 0u);
  ASSERT_TRUE(file->append(as_bytes("abc")));
  ASSERT_TRUE(file->align(8));
  EXPECT_EQ(file->size(), 8u);
  ASSERT_TRUE(file->align(8));
  EXPECT_EQ(file->size(), 8u);
  ASSERT_TRUE(file->append(as_bytes("d")));
  ASSERT_TRUE(file->align(4096));
  ASSERT_TRUE(file->publish());
  std::string expected("abc\0\0\0\0\0d", 9);
  expected.resize(4096);
  EXPECT_EQ(test::read_whole_file(path), expected);
}

// More than is written at once, and no multiple of a block.
class NewFileOfAnother : public NewFileTest,
                         public testing::WithParamInterface<std::tuple<bool, size_t>> {};

TEST_P(NewFileOfAnother, HasWhatTheOtherHas) {
  const auto [durable, before] = GetParam();
  std::string content((20 << 20) + 123, 'x');
  for (size_t at = 0; at < content.size(); at += 1000) content[at] = static_cast<char>(at / 1000);
  const std::string other = folder.write("other", content);
  auto file = NewFile::create(path);
  ASSERT_TRUE(file);
  if (durable) file->be_durable();
  ASSERT_TRUE(file->append(as_bytes(std::string(before, 'a'))));
  ASSERT_TRUE(file->append_file(other, content.size()));
  ASSERT_TRUE(file->append(as_bytes("end")));
  ASSERT_TRUE(file->publish());
  EXPECT_TRUE(test::read_whole_file(path) == std::string(before, 'a') + content + "end");
}

INSTANTIATE_TEST_SUITE_P(Kinds, NewFileOfAnother,
                         testing::Combine(testing::Bool(), testing::Values(0U, 4096U, 5U)));

TEST_F(NewFileTest, AFileThatIsShorterThanWasSaidIsAnError) {
  const std::string other = folder.write("other", std::string(10000, 'x'));
  auto file = NewFile::create(path);
  ASSERT_TRUE(file);
  file->be_durable();
  EXPECT_FALSE(file->append_file(other, 40000));
}

TEST_F(NewFileTest, MayBeEmpty) {
  auto file = NewFile::create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->publish());
  EXPECT_EQ(test::read_whole_file(path), "");
}

TEST_F(NewFileTest, MayBeMovedWhileItGrows) {
  auto created = NewFile::create(path);
  ASSERT_TRUE(created);
  ASSERT_TRUE(created->append(as_bytes("one ")));
  NewFile moved = *std::move(created);
  ASSERT_TRUE(moved.append(as_bytes("two")));
  ASSERT_TRUE(moved.publish());
  EXPECT_EQ(test::read_whole_file(path), "one two");
}

TEST_F(NewFileTest, AMissingFolderIsAnErrorThatNamesTheFile) {
  auto file = NewFile::create(folder.file("none/new.dat"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().file, folder.file("none/new.dat"));
}

TEST_F(NewFileTest, DoesNotTakeThePlaceOfAFolder) {
  ASSERT_EQ(mkdir(path.c_str(), 0755), 0);
  {
    auto file = NewFile::create(path);
    if (file) {
      ASSERT_TRUE(file->append(as_bytes("x")));
      EXPECT_FALSE(file->publish());
    }
  }
  EXPECT_EQ(folder.names(), Names{"new.dat"});
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_TRUE(S_ISDIR(status.st_mode));
}

TEST_F(NewFileTest, HasTheRightsOfAnyNewFile) {
  const mode_t mask = umask(022);
  auto file = NewFile::create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->publish());
  umask(mask);
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

}  // namespace
}  // namespace strata
