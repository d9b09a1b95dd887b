// SPDX-License-Identifier: Apache-2.0
#include "base/near_names.h"

#include <gmock/gmock.h>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearNames, ALetterChangedLeftOutAddedOrSwapped) {
  for (const char* word : {"sched_swotch", "sched_swich", "sched_swiitch", "sched_siwtch"})
    EXPECT_THAT(near_names(word, {"block_rq_issue", "sched_switch"}), ElementsAre("sched_switch"))
        << word;
}

TEST(NearNames, ThePartOfANameThatWasRemembered) {
  EXPECT_THAT(near_names("waking", {"sched_waking", "sched_switch"}), ElementsAre("sched_waking"));
}

TEST(NearNames, NearestFirstEachOnceAndAtMostThree) {
  EXPECT_THAT(near_names("abcdefgh", {"abcdefxy", "abcdefgx", "abcdefgx", "abcdefzz", "abcdxxgh"}),
              ElementsAre("abcdefgx", "abcdefxy", "abcdefzz"));
}

TEST(NearNames, NothingIsNearToAnotherWordNorToNone) {
  EXPECT_THAT(near_names("frob", {"sched", "irq"}), IsEmpty());
  EXPECT_THAT(near_names("x", {"y"}), IsEmpty());
  EXPECT_THAT(near_names("", {"a", "ab"}), IsEmpty());
  EXPECT_THAT(near_names(std::string(1 << 20, 'a'), {"a"}), IsEmpty());
}

TEST(DidYouMean, IsAPartOfASentence) {
  EXPECT_EQ(did_you_mean("skb1", {"skb"}), " (did you mean 'skb'?)");
  EXPECT_EQ(did_you_mean("neta", {"net1", "net2", "net3"}),
            " (did you mean 'net1', 'net2' or 'net3'?)");
  EXPECT_EQ(did_you_mean("frob", {"skb"}), "");
}

}  // namespace
}  // namespace strata
