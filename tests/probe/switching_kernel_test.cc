// SPDX-License-Identifier: Apache-2.0
//
// Sites that are switched on from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

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
    EXPECT_EQ(site.patched, 1u);  // in victim.cc
  }
  EXPECT_TRUE(found);
}

class ByTheKernel : public testing::Test {
 protected:
  void SetUp() override {
    sites_ = own_sites();
    ASSERT_FALSE(sites_.empty());
    if (Result<collect::UprobeLink> link = open(); !link) GTEST_SKIP() << link.error().text();
  }
  Result<collect::UprobeLink> open(pid_t process = 0) {
    return collect::UprobeLink::open("/proc/self/exe", sites_, process);
  }

  std::vector<collect::FileSite> sites_;
};

TEST_F(ByTheKernel, SitesAreOnAsLongAsTheLinkExists) {
  EXPECT_FALSE(STRATA_ENABLED(stress, step));
  std::optional<collect::UprobeLink> links[2];
  for (auto& link : links) {
    Result<collect::UprobeLink> opened = open();
    ASSERT_TRUE(opened) << opened.error().text();
    link.emplace(std::move(*opened));
    EXPECT_TRUE(STRATA_ENABLED(stress, step));
  }
  links[0].reset();
  EXPECT_TRUE(STRATA_ENABLED(stress, step)) << "somebody else has them on";
  links[1].reset();
  EXPECT_FALSE(STRATA_ENABLED(stress, step));
}

TEST_F(ByTheKernel, AProcessThatStartsLaterHasThemOnFromItsFirstInstruction) {
  Collector collector(small_layout(abi::Policy::Discard, true));
  Result<collect::UprobeLink> link = open();
  ASSERT_TRUE(link) << link.error().text();
  EXPECT_EQ(run_victim("Fires"), 0);
  ASSERT_EQ(collector.attached(), 1u);
  EXPECT_EQ(collector.read().kept(), kVictimFires);
}

TEST_F(ByTheKernel, TheDeathOfTheOneWhoTracesSwitchesThemOff) {
  EXPECT_EQ(in_child([&] {
              const Result<collect::UprobeLink> link = open();
              if (!link || !STRATA_ENABLED(stress, step)) _exit(1);
              kill(getpid(), SIGKILL);
            }),
            SIGKILL);
  for (int i = 0; i < 1000 && STRATA_ENABLED(stress, step); ++i) usleep(1000);
  EXPECT_FALSE(STRATA_ENABLED(stress, step));
}

}  // namespace
}  // namespace strata::test
