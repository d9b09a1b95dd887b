// SPDX-License-Identifier: Apache-2.0
//
// Sites that are switched on from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <thread>
#include <vector>

#include "collect/patching.h"
#include "collect/perf_uprobes.h"
#include "collect/uprobe_link.h"
#include "stress.h"
#include "victim.h"

namespace strata::test {
namespace {

namespace abi = probe::abi;

std::vector<collect::FileSite> own_sites() {
  Result<elf::ElfFile> file = elf::ElfFile::open("/proc/self/exe");
  if (!file) return {};
  Result<std::vector<collect::FileSite>> sites = collect::sites_of(*file);
  return sites ? std::move(*sites) : std::vector<collect::FileSite>{};
}

TEST(SitesInAFile, AreFoundWithoutTheProcess) {
  bool found = false;
  for (const collect::FileSite& site : own_sites()) {
    if (site.site.provider != "stress" || site.site.name != "step") continue;
    found = true;
    EXPECT_EQ(site.site.fields.size(), 2u);
    EXPECT_GE(site.patches.size(), 1u);  // in several files of this program
  }
  EXPECT_TRUE(found);
}

// By each way that the kernel has.
template <typename Uprobes>
class ByTheKernel : public testing::Test {
 protected:
  void SetUp() override {
    sites_ = own_sites();
    ASSERT_FALSE(sites_.empty());
    if (Result<Uprobes> uprobes = open(); !uprobes) GTEST_SKIP() << uprobes.error().text();
  }
  Result<Uprobes> open(pid_t process = 0) {
    return Uprobes::open("/proc/self/exe", sites_, process);
  }

  std::vector<collect::FileSite> sites_;
};
using Ways = testing::Types<collect::UprobeLink, collect::PerfUprobes>;
TYPED_TEST_SUITE(ByTheKernel, Ways);

TYPED_TEST(ByTheKernel, SitesAreOnAsLongAsTheObjectExists) {
  EXPECT_FALSE(STRATA_ENABLED(stress, step));
  std::optional<TypeParam> tracers[2];
  for (auto& tracer : tracers) {
    Result<TypeParam> opened = this->open();
    ASSERT_TRUE(opened) << opened.error().text();
    tracer.emplace(std::move(*opened));
    EXPECT_TRUE(STRATA_ENABLED(stress, step));
  }
  tracers[0].reset();
  EXPECT_TRUE(STRATA_ENABLED(stress, step)) << "somebody else has them on";
  tracers[1].reset();
  EXPECT_FALSE(STRATA_ENABLED(stress, step));
}

TYPED_TEST(ByTheKernel, AProcessThatStartsLaterHasThemOnFromItsFirstInstruction) {
  Collector collector(small_layout(abi::Policy::Discard, true));
  Result<TypeParam> uprobes = this->open();
  ASSERT_TRUE(uprobes) << uprobes.error().text();
  EXPECT_EQ(run_victim(Victim::Fires), 0);
  ASSERT_EQ(collector.attached(), 1u);
  EXPECT_EQ(collector.read().kept(), kVictimFires);
}

TYPED_TEST(ByTheKernel, TheDeathOfTheOneWhoTracesSwitchesThemOff) {
  EXPECT_EQ(in_child([&] {
              const Result<TypeParam> uprobes = this->open();
              if (!uprobes || !STRATA_ENABLED(stress, step)) _exit(1);
              kill(getpid(), SIGKILL);
            }),
            SIGKILL);
  for (int i = 0; i < 1000 && STRATA_ENABLED(stress, step); ++i) usleep(1000);
  EXPECT_FALSE(STRATA_ENABLED(stress, step));
}

TYPED_TEST(ByTheKernel, OneProcessAloneCanBeMeant) {
  const SharedTold told;
  const pid_t child = fork();
  if (child == 0) {
    hand_over(told, 1);
    _exit(STRATA_ENABLED(stress, step) ? 0 : 1);
  }
  std::optional<Result<TypeParam>> uprobes;
  when_handed_over(told, 1, [&] { uprobes.emplace(this->open(child)); });
  EXPECT_TRUE(*uprobes) << uprobes->error().text();
  EXPECT_FALSE(STRATA_ENABLED(stress, step)) << "in another process";
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// The places of this program's code that can be patched.
std::vector<uint64_t> own_patches() {
  std::vector<uint64_t> places;
  for (const int32_t* at = __start_strata_patches; at < __stop_strata_patches; at += 2)
    places.push_back(reinterpret_cast<uint64_t>(at) + static_cast<uint64_t>(int64_t{*at}));
  return places;
}

TEST(Patched, ASiteIsRewrittenWhileThreadsRunIt) {
  Collector collector(small_layout(abi::Policy::Overwrite, true));
  const SharedTold told;
  const pid_t child = fork();
  if (child == 0) {
    switch_on();
    std::thread other([&] {
      while (true) {
        STRATA_TRACE_PATCHED(stress, step, 1, (told->completed[1].fetch_add(1), 0));
        told->handled.fetch_add(1);
      }
    });
    while (true) {
      STRATA_TRACE_PATCHED(stress, step, 0, (told->completed[0].fetch_add(1), 0));
      told->handled.fetch_add(1);
    }
  }
  const std::vector<uint64_t> places = own_patches();
  // Off: it runs, and evaluates nothing.
  while (told->handled < 1000) usleep(100);
  EXPECT_EQ(told->completed[0] + told->completed[1], 0u);
  for (int i = 0; i < 1000; ++i) {
    const Status status = collect::patch(child, places, i % 2 == 0);
    ASSERT_TRUE(status) << status.error().text();
    if (i % 100 == 0) {  // on: both evaluate
      const uint64_t before[] = {told->completed[0], told->completed[1]};
      while (told->completed[0] == before[0] || told->completed[1] == before[1]) usleep(100);
    }
  }
  // Off again, for all that was begun is done after a while.
  usleep(10'000);
  const uint64_t fired = told->completed[0] + told->completed[1];
  const uint64_t passed = told->handled;
  while (told->handled < passed + 1000) usleep(100);
  EXPECT_LE(told->completed[0] + told->completed[1], fired + 2);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGKILL) << "it came to no harm before";
  EXPECT_GT(collector.read().kept(), 0u);
}

TEST(Patched, WhatIsNoSiteIsLeftAlone) {
  EXPECT_EQ(in_child([] {
              const uint64_t place = reinterpret_cast<uint64_t>(&usleep) & ~uint64_t{1};
              if (collect::patch(getpid(), std::vector{place}, true)) _exit(1);
            }),
            0);
}

}  // namespace
}  // namespace strata::test
