// SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_text.h"

#include <gmock/gmock.h>

namespace strata::kernel {
namespace {

using testing::ElementsAre;

// A line of a kernel 6.18; see proc(5).
constexpr std::string_view kStat =
    "14959 (cat) R 14955 14955 28678 0 -1 4194304 102 0 0 0 0 0 0 0 20 0 3 0 411023 3133440 414 "
    "18446744073709551615 93828730912768 93828730932649 140727967182144 0 0 0 0 0 0 0 0 0 17 1 0 0 "
    "0 0 0 93828730948656 93828730950272 93829631242240 140727967189606 140727967189662 "
    "140727967189662 140727967191019 0\n";

TEST(Stat, HasWhatIsWanted) {
  const std::optional<StatText> stat = parse_stat(kStat);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->tid, 14959);
  EXPECT_EQ(stat->name, "cat");
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->parent, 14955);
  EXPECT_FALSE(stat->kernel_thread);
  EXPECT_EQ(stat->threads, 3u);
  EXPECT_EQ(stat->start_ticks, 411023u);
  EXPECT_EQ(stat->cpu, 1);
}

TEST(Stat, ANameMayHoldParenthesesAndSpaces) {
  std::string text(kStat);
  text.replace(text.find("cat"), 3, ") R 1 (x)");
  const std::optional<StatText> stat = parse_stat(text);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, ") R 1 (x)");
  EXPECT_EQ(stat->parent, 14955);
}

TEST(Stat, AKernelThreadIsToldByItsFlag) {
  std::string text(kStat);
  text.replace(text.find("4194304"), 7, "69238848");  // PF_KTHREAD and others
  ASSERT_TRUE(parse_stat(text));
  EXPECT_TRUE(parse_stat(text)->kernel_thread);
}

TEST(Stat, WhatIsCutOffIsNothing) {
  for (size_t length = 0; length < kStat.find(" 17 1 0") + 4; ++length)
    EXPECT_FALSE(parse_stat(kStat.substr(0, length))) << length;
  for (const char* text : {"", ")(", "x (y) S 1", "-1 (a) S", "1 )x( S 1 1 1"})
    EXPECT_FALSE(parse_stat(text)) << text;
}

TEST(Status, HasUsersMemoryAndNumbers) {
  const StatusText status = parse_status(
      "Name:\tsleep\nTgid:\t4321\nUid:\t1000\t1001\t1000\t1000\nGid:\t100\t100\t100\t100\n"
      "NStgid:\t4321\t17\t1\nNSpid:\t4321\t17\t1\nVmPeak:\t    3060 kB\nVmRSS:\t    1772 kB\n");
  EXPECT_EQ(status.uid, 1000);
  EXPECT_EQ(status.effective_uid, 1001);
  EXPECT_EQ(status.gid, 100);
  EXPECT_EQ(status.rss_kb, 1772u);
  EXPECT_THAT(status.pids, ElementsAre(4321, 17, 1));
}

TEST(Status, OddTextGivesWhatThereIs) {
  EXPECT_EQ(parse_status("").uid, -1);
  EXPECT_EQ(parse_status("Uid:\nGid:\tx\nVmRSS:\t99999999999999999999999 kB").rss_kb, 0u);
  EXPECT_THAT(parse_status("NSpid:\t5\t-3\t1").pids, ElementsAre(5));
  std::string deep = "NSpid:";
  for (int i = 0; i < 1000; ++i) deep += "\t7";
  EXPECT_LE(parse_status(deep).pids.size(), 33u);
}

TEST(Cgroup, IsTheUnifiedHierarchysPath) {
  EXPECT_EQ(parse_cgroup("0::/user.slice/a.scope\n"), "/user.slice/a.scope");
  EXPECT_EQ(parse_cgroup("4:memory:/a/much/longer/path\n0::/b\n"), "/b");
  EXPECT_EQ(parse_cgroup("2:cpu:/\n4:memory:/docker/x\n1:name=systemd:/y\n0::/\n"), "/docker/x");
  EXPECT_EQ(parse_cgroup("3:cpuacct,cpu:/slow\n4:memory:/docker/x\n0::/\n"), "/slow");
  EXPECT_EQ(parse_cgroup("3:cpuacct,cpuset:/a\n4:memory:/docker/x\n"), "/docker/x");
  EXPECT_EQ(parse_cgroup("0::/with:colons:in\n"), "/with:colons:in");
  EXPECT_EQ(parse_cgroup(""), "/");
  EXPECT_EQ(parse_cgroup("garbage\n::\n0"), "/");
}

TEST(NumberedLink, IsOfItsKind) {
  EXPECT_EQ(parse_numbered_link("net:[4026531833]", "net"), 4026531833u);
  EXPECT_EQ(parse_numbered_link("socket:[17]", "socket"), 17u);
  for (const char* link : {"", "net", "net:", "net:[", "net:[]", "net:[x]", "net:[1", "mnt:[1]"})
    EXPECT_FALSE(parse_numbered_link(link, "net")) << link;
}

TEST(Container, IsInTheCgroupsPath) {
  const std::string id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  const auto kind = [](const std::string& path) {
    const std::optional<Container> found = container_of(path);
    return found ? found->kind + " " + found->name : "none";
  };
  EXPECT_EQ(kind("/docker/" + id), "docker " + id);
  EXPECT_EQ(kind("/system.slice/docker-" + id + ".scope"), "docker " + id);
  EXPECT_EQ(kind("/machine.slice/libpod-" + id + ".scope/container"), "podman " + id);
  EXPECT_EQ(kind("/user.slice/user-1000.slice/user@1000.service/libpod-" + id + ".scope"),
            "podman " + id);
  EXPECT_EQ(kind("/kubepods.slice/kubepods-pod7.slice/cri-containerd-" + id + ".scope"),
            "containerd " + id);
  EXPECT_EQ(kind("/kubepods.slice/kubepods-pod7.slice/crio-" + id + ".scope"), "cri-o " + id);
  EXPECT_EQ(kind("/kubepods/burstable/pod7/" + id), "kubernetes " + id);
  EXPECT_EQ(kind("/lxc.payload.web/system.slice/x.service"), "lxc web");
  EXPECT_EQ(kind("/lxc/web/init.scope"), "lxc web");
  EXPECT_EQ(kind("/docker/" + id + "/docker/" + std::string(64, 'f')),
            "docker " + std::string(64, 'f'))
      << "the innermost one";
  EXPECT_EQ(kind("/system.slice/docker.service"), "none");
  EXPECT_EQ(kind("/machine.slice/libpod-conmon-" + id + ".scope"), "none");
  EXPECT_EQ(kind("/lxc.monitor.web"), "none");
  EXPECT_EQ(kind("/"), "none");
  EXPECT_EQ(kind(""), "none");
}

}  // namespace
}  // namespace strata::kernel
