// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpu_list.h"

#include <gmock/gmock.h>

namespace strata::kernel {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(CpuList, RangesAndSinglesAsTheKernelWritesThem) {
  EXPECT_THAT(parse_cpu_list("0-3,8,10-11\n"), Optional(ElementsAre(0, 1, 2, 3, 8, 10, 11)));
  EXPECT_THAT(parse_cpu_list("0"), Optional(ElementsAre(0)));
  EXPECT_THAT(parse_cpu_list("\n"), Optional(ElementsAre()));
}

TEST(CpuList, EachCpuOnceInOrder) {
  EXPECT_THAT(parse_cpu_list("4,0-2,1"), Optional(ElementsAre(0, 1, 2, 4)));
}

TEST(CpuList, WhatIsNoListIsNone) {
  for (const char* text : {"x", "0-", "-1", "3-1", "0,,1", "0 1", "0-1,", "0-4294967295", "99999"})
    EXPECT_FALSE(parse_cpu_list(text)) << text;
}

TEST(CpuList, ThisCpuIsOnline) {
  const Result<std::vector<uint32_t>> cpus = online_cpus();
  ASSERT_TRUE(cpus);
  EXPECT_THAT(*cpus, testing::Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace strata::kernel
