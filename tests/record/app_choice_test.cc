// SPDX-License-Identifier: Apache-2.0
#include "record/app_choice.h"

#include <gmock/gmock.h>

#include "record/session_change.h"

namespace strata::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

collect::ProbedFile file_of(const std::string& path, const std::vector<std::string>& names) {
  collect::ProbedFile file;
  file.path = path;
  for (const std::string& name : names) {
    collect::FileSite& site = file.sites.emplace_back();
    site.site.provider = "shop";
    site.site.name = name;
    site.site.flag = 0x1000 + 4 * file.sites.size();
  }
  return file;
}

std::vector<std::string> names_in(const std::vector<collect::ProbedFile>& files) {
  std::vector<std::string> names;
  for (const collect::ProbedFile& file : files)
    for (const collect::FileSite& site : file.sites)
      names.push_back(file.path + " " + site.site.name);
  return names;
}

// A program and its library, of which two of five probes are on.
AppRequest shop() {
  AppRequest request;
  request.all = {file_of("shop", {"order", "pay", "ship"}), file_of("libshop", {"open", "close"})};
  request.files = request.all;
  std::erase_if(request.files[0].sites, [](const auto& site) { return site.site.name == "pay"; });
  request.files.pop_back();
  return request;
}

TEST(ChooseAgain, WhatIsNotNamedStaysAsItIs) {
  EXPECT_THAT(names_in(choose_again(shop(), {})), ElementsAre("shop order", "shop ship"));
}

TEST(ChooseAgain, ProbesThatWereNotChosenAtFirstCanBeEnabled) {
  EXPECT_THAT(names_in(choose_again(shop(), {{"shop:pay", "shop:cl*"}, {}})),
              ElementsAre("shop order", "shop pay", "shop ship", "libshop close"));
}

TEST(ChooseAgain, WhatIsEnabledAndDisabledIsEnabled) {
  EXPECT_THAT(names_in(choose_again(shop(), {{"order"}, {"*"}})), ElementsAre("shop order"));
  EXPECT_THAT(choose_again(shop(), {{}, {"shop:*"}}), IsEmpty());
}

TEST(TakeProbes, AnEnableThatNamesAProbeIsNotTheKernels) {
  SessionChange change{{{"shop:pay", {}}, {"sched_switch", {}}}, {"ship", "irq"}, {}};
  const Result<AppChange> probes = take_probes(change, shop(), nullptr);
  ASSERT_TRUE(probes);
  EXPECT_THAT(probes->enable, ElementsAre("shop:pay"));
  EXPECT_THAT(probes->disable, ElementsAre("ship"));
  EXPECT_EQ(change, (SessionChange{{{"sched_switch", {}}}, {"irq"}, {}}));
  EXPECT_EQ(text_of(*probes), "enabled shop:pay of programs; disabled ship of programs");
}

TEST(TakeProbes, ADisableIsForProbesThatAreOn) {
  SessionChange change{{}, {"shop:pay"}, {}};
  const Result<AppChange> probes = take_probes(change, shop(), nullptr);
  ASSERT_TRUE(probes);
  EXPECT_TRUE(probes->empty());
  EXPECT_THAT(change.disable, ElementsAre("shop:pay"));
}

TEST(TakeProbes, AFilterOfAProbeIsRefused) {
  SessionChange change{{{"shop:pay", {"value > 1"}}}, {}, {}};
  EXPECT_FALSE(take_probes(change, shop(), nullptr));
}

}  // namespace
}  // namespace strata::record
