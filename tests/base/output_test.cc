// SPDX-License-Identifier: Apache-2.0
#include "base/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/unfinished.h"

namespace strata {
namespace {

namespace fs = std::filesystem;

class OutputTest : public testing::Test {
 protected:
  OutputTest() {
    std::string name = fs::temp_directory_path() / "strata-output-XXXXXX";
    folder = mkdtemp(name.data());
  }
  ~OutputTest() override { fs::remove_all(folder); }

  static std::string content(const fs::path& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
  }
  fs::path folder;
};

TEST_F(OutputTest, AFileAppearsWhenItIsWhole) {
  fs::path path = folder / "out";
  std::ofstream(path) << "before";
  Result<Output> out = Output::create(path);
  ASSERT_TRUE(out);
  std::string expected;
  for (int i = 0; i < 100'000; ++i) {
    out->text().put("line ");
    out->text().put_decimal(int64_t{i});
    out->text().put('\n');
    expected += "line " + std::to_string(i) + "\n";
    ASSERT_TRUE(out->drain());
  }
  ASSERT_TRUE(out->flush());
  EXPECT_EQ(content(path), "before");
  ASSERT_TRUE(out->finish());
  EXPECT_EQ(content(path), expected);
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputTest, AnUnfinishedFileGoesAway) {
  {
    Result<Output> out = Output::create(folder / "out");
    ASSERT_TRUE(out);
    out->text().put("x");
    out->flush();
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputTest, ASignalRemovesWhatIsUnfinished) {
  pid_t child = fork();
  if (child == 0) {
    handle_signals();
    std::ofstream(folder / "half") << "x";
    std::ofstream(folder / "whole") << "x";
    remember_unfinished(folder / "whole");
    remember_unfinished(folder / "half");
    forget_unfinished(folder / "whole");
    raise(SIGINT);
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputTest, WhatIsNoRegularFileIsWrittenTo) {
  Result<Output> out = Output::create("/dev/null");
  ASSERT_TRUE(out);
  out->text().put("text");
  EXPECT_TRUE(out->finish());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(OutputTest, ALinkStaysALink) {
  std::ofstream(folder / "real") << "before";
  fs::create_symlink(folder / "real", folder / "link");
  Result<Output> out = Output::create(folder / "link");
  ASSERT_TRUE(out);
  out->text().put("x");
  ASSERT_TRUE(out->finish());
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(content(folder / "real"), "x");
}

TEST_F(OutputTest, ErrorsNameTheFile) {
  Result<Output> missing = Output::create(folder / "none" / "out");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text().find("none/out"), std::string::npos);
  EXPECT_FALSE(Output::create(folder));
}

TEST_F(OutputTest, AReaderThatHasGoneIsNoError) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  Output out(ends[1]);
  out.text().put("text");
  EXPECT_FALSE(out.flush());
  EXPECT_TRUE(out.closed_early());
  EXPECT_TRUE(out.finish());
  close(ends[1]);
}

TEST_F(OutputTest, AFullDiskIsAnError) {
  int full = open("/dev/full", O_WRONLY);
  if (full < 0) GTEST_SKIP() << "no /dev/full";
  Output out(full, "/dev/full");
  out.text().put("text");
  Status status = out.finish();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().text().find("/dev/full"), std::string::npos);
  close(full);
}

}  // namespace
}  // namespace strata
