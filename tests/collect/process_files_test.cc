// SPDX-License-Identifier: Apache-2.0
#include "collect/process_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collect/seccomp.h"

namespace strata::test {
namespace {

using collect::CodeMapping;
using collect::FileSite;

TEST(CodeMappings, AreThoseOfFiles) {
  const std::vector<CodeMapping> found = collect::parse_code_mappings(
      "5581a000-5581b000 r--p 00000000 fe:01 1234                      /usr/bin/shop\n"
      "5581b000-5581d000 r-xp 00001000 fe:01 1234                      /usr/bin/shop\n"
      "7f00000000-7f00001000 rwxp 00000000 00:00 0 \n"
      "7f1000-7f3000 r-xp 00002000 00:2a 99                            /a b/x (deleted)\n"
      "7ffd000-7ffe000 r-xp 00000000 00:00 0                           [vdso]\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].path, "/usr/bin/shop");
  EXPECT_EQ(found[0].start, 0x5581b000u);
  EXPECT_EQ(found[0].end, 0x5581d000u);
  EXPECT_EQ(found[0].offset, 0x1000u);
  EXPECT_EQ(found[0].device, makedev(0xfe, 1));
  EXPECT_EQ(found[0].inode, 1234u);
  EXPECT_FALSE(found[0].is_deleted);
  EXPECT_EQ(found[1].path, "/a b/x");
  EXPECT_TRUE(found[1].is_deleted);
}

TEST(CodeMappings, WhatIsNoLineIsPassedOver) {
  EXPECT_TRUE(collect::parse_code_mappings("").empty());
  EXPECT_TRUE(collect::parse_code_mappings("\n\n r-xp\nx-y r-xp 0 0:0 0 /a\n").empty());
  EXPECT_TRUE(collect::parse_code_mappings("2000-1000 r-xp 0 0:0 1 /a").empty());
  EXPECT_TRUE(collect::parse_code_mappings("1000-2000 r-xp 0 0:0").empty());
  EXPECT_EQ(collect::parse_code_mappings("1000-2000 r-xp 0 0:0 1 /a").size(), 1u);
}

TEST(LoadBiases, AreOneForEachTimeAFileIsLoaded) {
  FileSite site;
  site.site.anchor = 0x401234;
  site.anchor_offset = 0x1234;
  const std::vector<CodeMapping> mappings = {
      {.start = 0x10000, .end = 0x11000, .offset = 0x3000},  // another part of it
      {.start = 0x555000, .end = 0x557000, .offset = 0x1000},
      {.start = 0x401000, .end = 0x402000, .offset = 0x1000},
  };
  EXPECT_THAT(collect::load_biases(mappings, site), testing::ElementsAre(0x154000, 0));
}

TEST(MappingsOf, FindThisProgramInThisProcess) {
  const Result<collect::FileIdentity> self = collect::FileIdentity::of("/proc/self/exe");
  ASSERT_TRUE(self);
  const std::vector<CodeMapping> mappings = collect::mappings_of(getpid(), *self);
  ASSERT_FALSE(mappings.empty());
  const Result<collect::FileIdentity> reached =
      collect::FileIdentity::of(collect::reachable_path(getpid(), mappings.front()));
  ASSERT_TRUE(reached) << reached.error().text();
  EXPECT_EQ(*reached, *self);
  EXPECT_THAT(collect::running_processes(), testing::Contains(getpid()));
}

TEST(Seccomp, ModeIsReadFromItsOwnLine) {
  EXPECT_FALSE(collect::is_filtered("Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n"));
  EXPECT_TRUE(collect::is_filtered("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
  EXPECT_TRUE(collect::is_filtered("Name:\tx\nSeccomp:\t1\n"));
  EXPECT_FALSE(collect::is_filtered("Name:\tSeccomp:\t2\n"));
  EXPECT_FALSE(collect::is_filtered("Name:\tx\nSeccomp:\t"));
}

}  // namespace
}  // namespace strata::test
