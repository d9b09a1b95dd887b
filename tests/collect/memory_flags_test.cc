// SPDX-License-Identifier: Apache-2.0
#include "collect/memory_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "collect/site_choice.h"

namespace strata::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(MemoryRefusal, ByYamaNamesItAndWhatRemains) {
  for (const int scope : {1, 2, 3})
    EXPECT_THAT(collect::memory_refusal(17, EPERM, scope).text(),
                AllOf(HasSubstr("process 17"),
                      HasSubstr("kernel.yama.ptrace_scope is " + std::to_string(scope)),
                      HasSubstr("STRATA_PROBE=")));
}

TEST(MemoryRefusal, WithoutYamaIsAboutTheUser) {
  for (const std::optional<int> scope : {std::optional<int>(), std::optional<int>(0)})
    EXPECT_THAT(
        collect::memory_refusal(17, EPERM, scope).text(),
        AllOf(HasSubstr("another user's"), HasSubstr("STRATA_PROBE="), Not(HasSubstr("yama"))));
  EXPECT_THAT(collect::memory_refusal(17, ESRCH, 1).text(),
              AllOf(HasSubstr("No such process"), Not(HasSubstr("yama"))));
}

TEST(ChooseSites, TakesWhatAGlobNames) {
  std::vector<collect::FileSite> sites(3);
  const char* const names[][2] = {{"shop", "order"}, {"shop", "stock"}, {"bank", "order"}};
  for (size_t i = 0; i < sites.size(); ++i) {
    sites[i].site.provider = names[i][0];
    sites[i].site.name = names[i][1];
  }
  const auto count = [&](std::vector<std::string> globs) {
    return collect::choose_sites(sites, globs).size();
  };
  EXPECT_EQ(count({"shop"}), 2u);
  EXPECT_EQ(count({"*:order"}), 2u);
  EXPECT_EQ(count({"shop:order", "shop:o*"}), 1u);
  EXPECT_EQ(count({"*"}), 3u);
  EXPECT_EQ(count({"order"}), 0u);
  EXPECT_EQ(count({}), 0u);
}

}  // namespace
}  // namespace strata::test
