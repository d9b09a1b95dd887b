// SPDX-License-Identifier: Apache-2.0
#include "kernel/cgroup_throttling.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "support/temporary_folder.h"

namespace strata::kernel {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

const auto kNoneKnown = [](const std::string&) { return false; };

// As systemd mounts them, and as older systems do.
constexpr const char* kUnified =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 master:2 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kCpuAccounting =
    "32 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n";
constexpr const char* kCpu =
    "33 31 0:29 / /sys/fs/cgroup/cpu\\040time rw - cgroup cgroup rw,cpu,cpuacct\n";

TEST(CpuHierarchy, VersionTwoIsFoundByItsFileSystem) {
  EXPECT_EQ(parse_cpu_hierarchy(kUnified), (CpuHierarchy{"/sys/fs/cgroup", "/", true}));
}

TEST(CpuHierarchy, WhereVersionOneHasTheControllerVersionTwoHasNot) {
  const CpuHierarchy cpu{"/sys/fs/cgroup/cpu time", "/", false};
  EXPECT_EQ(parse_cpu_hierarchy(std::string(kUnified) + kCpuAccounting + kCpu), cpu);
  EXPECT_EQ(parse_cpu_hierarchy(std::string(kCpu) + kUnified), cpu);
  EXPECT_EQ(parse_cpu_hierarchy(kCpuAccounting), std::nullopt);
}

TEST(CpuHierarchy, AMountOfAllOfItIsBetterThanOneOfAPart) {
  const std::string part = "40 23 0:26 /docker/a /a rw - cgroup2 none rw\n";
  EXPECT_EQ(parse_cpu_hierarchy(part), (CpuHierarchy{"/a", "/docker/a", true}));
  EXPECT_EQ(parse_cpu_hierarchy(part + kUnified)->root, "/");
}

TEST(CpuHierarchy, WhatIsCutOffIsNothing) {
  for (const std::string_view line : {kUnified, kCpu}) {
    const size_t kind = line.find("- cgroup");
    for (size_t length = 0; length <= kind; ++length)
      EXPECT_EQ(parse_cpu_hierarchy(line.substr(0, length)), std::nullopt) << length;
  }
  EXPECT_EQ(parse_cpu_hierarchy("1 2 3 x y - cgroup2 a b\n"), std::nullopt);
}

TEST(CpuLimit, IsANumberInEitherVersion) {
  EXPECT_TRUE(has_cpu_limit("50000 100000\n"));
  EXPECT_TRUE(has_cpu_limit("20000\n"));
  for (const char* text : {"max 100000\n", "-1\n", "", "\n", "0 100000\n", "5x"})
    EXPECT_FALSE(has_cpu_limit(text)) << text;
}

TEST(CpuStat, OfVersionTwoCountsMicroseconds) {
  EXPECT_EQ(parse_cpu_stat("usage_usec 5300\nuser_usec 5000\nsystem_usec 300\nnr_periods 17\n"
                           "nr_throttled 12\nthrottled_usec 1034\nnr_bursts 0\nburst_usec 0\n"),
            (CpuThrottling{17, 12, 1'034'000}));
}

TEST(CpuStat, OfVersionOneCountsNanoseconds) {
  EXPECT_EQ(parse_cpu_stat("nr_periods 17\nnr_throttled 12\nthrottled_time 1034567\n"),
            (CpuThrottling{17, 12, 1'034'567}));
}

TEST(CpuStat, WhatDoesNotTellAllIsNothing) {
  for (const char* text :
       {"", "usage_usec 5300\n", "nr_periods 17\nnr_throttled 12\n",
        "nr_periods 17\nnr_throttled -12\nthrottled_usec 1\n",
        "nr_periods 1\nnr_throttled 1\nthrottled_usec 18446744073709552\n",  // of ns, beyond 64
                                                                             // bits
        "nr_periods 1\nnr_throttled 1\nthrottled_time 18446744073709551616\n"})
    EXPECT_EQ(parse_cpu_stat(text), std::nullopt) << text;
}

// A folder that looks like a hierarchy of version 2.
class LimitedCgroupsTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& limit) const {
    std::filesystem::create_directories(folder_.file(name));
    if (!limit.empty()) (void)folder_.write(name + "/cpu.max", as_bytes(limit));
    (void)folder_.write(name + "/cpu.stat",
                        as_bytes("nr_periods 3\nnr_throttled 2\nthrottled_usec 1\n"));
  }
  CpuHierarchy hierarchy() const { return {folder_.path(), "/", true}; }
  static std::vector<std::string> names(const LimitedCgroups& cgroups) {
    std::vector<std::string> names;
    for (const LimitedCgroup& cgroup : cgroups.found) names.push_back(cgroup.name());
    return names;
  }

  test::TemporaryFolder folder_;
};

TEST_F(LimitedCgroupsTest, AreFoundAtEveryDepth) {
  add("a", "max 100000\n");
  add("a/b c", "50000 100000\n");
  add("d", "20000 100000\n");
  const LimitedCgroups found = find_limited_cgroups(hierarchy(), 10, kNoneKnown);
  EXPECT_THAT(names(found), UnorderedElementsAre("/a/b c", "/d"));
  EXPECT_TRUE(found.is_all);
  EXPECT_EQ(found.found.front().read(), (CpuThrottling{3, 2, 1000}));
}

TEST_F(LimitedCgroupsTest, BelowOneWithoutTheControllerThereIsNone) {
  add("a", "");
  add("a/b", "50000 100000\n");
  EXPECT_THAT(names(find_limited_cgroups(hierarchy(), 10, kNoneKnown)), IsEmpty());
}

TEST_F(LimitedCgroupsTest, HaveTheirNamesFromTheRootOfTheHierarchy) {
  add(".", "50000 100000\n");
  add("a", "50000 100000\n");
  CpuHierarchy part = hierarchy();
  part.root = "/docker/7";
  EXPECT_THAT(names(find_limited_cgroups(part, 10, kNoneKnown)),
              UnorderedElementsAre("/docker/7", "/docker/7/a"));
}

TEST_F(LimitedCgroupsTest, ThatAreKnownAreNotFoundAgain) {
  add("a", "50000 100000\n");
  add("b", "50000 100000\n");
  const LimitedCgroups found =
      find_limited_cgroups(hierarchy(), 10, [](const std::string& name) { return name == "/a"; });
  EXPECT_THAT(names(found), UnorderedElementsAre("/b"));
}

TEST_F(LimitedCgroupsTest, BeyondTheMostThatAreWantedAreTold) {
  for (const char* name : {"a", "b", "c"}) add(name, "50000 100000\n");
  const LimitedCgroups found = find_limited_cgroups(hierarchy(), 2, kNoneKnown);
  EXPECT_EQ(found.found.size(), 2u);
  EXPECT_FALSE(found.is_all);
}

TEST_F(LimitedCgroupsTest, WithoutAHierarchyAreNone) {
  EXPECT_THAT(names(find_limited_cgroups({"/nowhere", "/", true}, 10, kNoneKnown)), IsEmpty());
}

}  // namespace
}  // namespace strata::kernel
