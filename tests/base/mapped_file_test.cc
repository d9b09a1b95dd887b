// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "support/temporary_folder.h"

namespace strata {
namespace {

constexpr size_t kPage = 4096;

class MappedFileTest : public testing::Test {
 protected:
  // `pages` pages of 'a', 'b', ...
  std::string write_pages(std::string_view name, size_t pages) {
    std::string text;
    for (size_t i = 0; i < pages; ++i) text.append(kPage, static_cast<char>('a' + i));
    return folder.write(name, text);
  }
  static char at(const MappedFile& file, size_t offset) {
    return static_cast<char>(load_once<uint8_t>(file.bytes().data() + offset));
  }
  test::TemporaryFolder folder;
};

TEST_F(MappedFileTest, HasTheBytesOfTheFile) {
  auto file = MappedFile::open(folder.write("some", "some text"));
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(as_text(file->bytes()), "some text");
  EXPECT_EQ(file->size(), 9u);
  EXPECT_EQ(file->path(), folder.file("some"));
  EXPECT_FALSE(file->shrank());
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  auto file = MappedFile::open(folder.write("empty", ""));
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->size(), 0u);
  EXPECT_TRUE(file->bytes().empty());
  EXPECT_FALSE(file->shrank());
}

TEST_F(MappedFileTest, AMissingFileIsAnErrorThatNamesIt) {
  auto file = MappedFile::open(folder.file("missing"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().file, folder.file("missing"));
  EXPECT_NE(file.error().text().find("No such file or directory"), std::string::npos)
      << file.error().text();
}

TEST_F(MappedFileTest, AFolderIsRefused) {
  auto file = MappedFile::open(folder.path());
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().file, folder.path());
}

TEST_F(MappedFileTest, APipeIsRefusedWithoutWaitingForAWriter) {
  const std::string path = folder.file("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  auto file = MappedFile::open(path);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().file, path);
}

TEST_F(MappedFileTest, ADeviceIsRefused) { EXPECT_FALSE(MappedFile::open("/dev/zero")); }

TEST_F(MappedFileTest, WhatAFileLosesReadsAsZeros) {
  const std::string path = write_pages("pages", 5);
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_EQ(truncate(path.c_str(), kPage + 100), 0);
  EXPECT_FALSE(file->shrank()) << "nothing was read yet";

  EXPECT_EQ(at(*file, 0), 'a');
  EXPECT_EQ(at(*file, kPage + 99), 'b');
  EXPECT_EQ(at(*file, 3 * kPage + 17), 0);
  EXPECT_TRUE(file->shrank());
  EXPECT_EQ(file->shrank_at() / kPage, 3u);
  EXPECT_EQ(at(*file, 5 * kPage - 1), 0);
  EXPECT_EQ(at(*file, 2 * kPage), 0);
  EXPECT_EQ(at(*file, 0), 'a') << "what is left of the file stays";
  EXPECT_EQ(file->shrank_error().file, path);
  EXPECT_TRUE(file->shrank_error().offset.has_value());
  EXPECT_EQ(file->size(), 5 * kPage) << "the view does not move under its readers";
}

TEST_F(MappedFileTest, AFileThatBecomesEmptyReadsAsZeros) {
  const std::string path = write_pages("pages", 3);
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  for (size_t i = 0; i < 3 * kPage; ++i) ASSERT_EQ(at(*file, i), 0) << i;
  EXPECT_TRUE(file->shrank());
}

TEST_F(MappedFileTest, OnlyTheFileThatShrankSaysSo) {
  const std::string first = write_pages("first", 2);
  const std::string second = write_pages("second", 2);
  auto a = MappedFile::open(first);
  auto b = MappedFile::open(second);
  ASSERT_TRUE(a && b);
  ASSERT_EQ(truncate(second.c_str(), 0), 0);
  EXPECT_EQ(at(*a, kPage), 'b');
  EXPECT_EQ(at(*b, kPage), 0);
  EXPECT_FALSE(a->shrank());
  EXPECT_TRUE(b->shrank());
}

TEST_F(MappedFileTest, AMovedOneIsStillWatched) {
  const std::string path = write_pages("pages", 2);
  auto opened = MappedFile::open(path);
  ASSERT_TRUE(opened);
  MappedFile moved = *std::move(opened);
  auto other = MappedFile::open(write_pages("other", 2));
  ASSERT_TRUE(other);
  *other = std::move(moved);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(at(*other, kPage), 0);
  EXPECT_TRUE(other->shrank());
  EXPECT_EQ(other->path(), path);
}

TEST_F(MappedFileTest, ManyMayBeOpenAndComeAndGo) {
  const std::string path = write_pages("pages", 2);
  for (int round = 0; round < 3; ++round) {
    std::vector<MappedFile> files;
    for (int i = 0; i < 300; ++i) {
      auto file = MappedFile::open(path);
      ASSERT_TRUE(file) << file.error().text();
      files.push_back(*std::move(file));
    }
    ASSERT_EQ(at(files[299], kPage), 'b');
  }
  auto last = MappedFile::open(path);
  ASSERT_TRUE(last);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(at(*last, kPage), 0);
  EXPECT_TRUE(last->shrank());
}

TEST_F(MappedFileTest, AnotherThreadMayMeetTheEnd) {
  const std::string path = write_pages("pages", 4);
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  char met = 'x';
  std::thread([&] { met = at(*file, 2 * kPage); }).join();
  EXPECT_EQ(met, 0);
  EXPECT_TRUE(file->shrank());
}

TEST_F(MappedFileTest, ABusErrorElsewhereStillEndsTheProgram) {
  const std::string path = write_pages("foreign", 2);
  auto ours = MappedFile::open(write_pages("ours", 2));
  ASSERT_TRUE(ours);
  EXPECT_DEATH(
      {
        const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
        void* foreign = mmap(nullptr, 2 * kPage, PROT_READ, MAP_SHARED, fd, 0);
        if (ftruncate(fd, 0) == 0) load_once<uint8_t>(static_cast<std::byte*>(foreign));
      },
      "");
}

}  // namespace
}  // namespace strata
