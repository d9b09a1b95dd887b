// SPDX-License-Identifier: Apache-2.0
#include "query/condition.h"

#include <gtest/gtest.h>

namespace strata::query {
namespace {

TEST(Condition, AcceptsEverythingUnlessNarrowed) {
  const Condition condition;
  EXPECT_TRUE(condition.accepts(std::numeric_limits<int64_t>::min()));
  EXPECT_TRUE(condition.accepts("x"));
  EXPECT_FALSE(condition.is_empty());
}

TEST(Condition, BoundsAreAmongWhatIsAccepted) {
  Condition condition;
  condition.at_least(3);
  condition.at_most(5);
  condition.at_least(2);  // no narrower
  EXPECT_FALSE(condition.accepts(2));
  EXPECT_TRUE(condition.accepts(3));
  EXPECT_TRUE(condition.accepts(5));
  EXPECT_FALSE(condition.accepts(6));
}

TEST(Condition, TwoListsLeaveWhatIsInBoth) {
  Condition condition;
  condition.one_of(std::vector<int64_t>{9, 3, 5});
  condition.one_of(std::vector<int64_t>{5, 4, 9});
  EXPECT_FALSE(condition.accepts(3));
  EXPECT_FALSE(condition.accepts(4));
  EXPECT_TRUE(condition.accepts(5));
  EXPECT_EQ(condition.least(), 5);
  EXPECT_EQ(condition.most(), 9);
  condition.one_of(std::vector<int64_t>{});
  EXPECT_TRUE(condition.is_empty());
}

TEST(Condition, TextsAreOneOfAList) {
  Condition condition;
  condition.one_of(std::vector<std::string>{"b", "a"});
  EXPECT_TRUE(condition.accepts("a"));
  EXPECT_FALSE(condition.accepts("c"));
}

TEST(Condition, BoundsThatCrossLeaveNothing) {
  Condition condition;
  condition.at_least(6);
  condition.at_most(5);
  EXPECT_TRUE(condition.is_empty());
}

TEST(Conditions, AColumnThatIsNotNarrowedAcceptsEverything) {
  Conditions conditions;
  conditions.on(3).at_least(7);
  EXPECT_TRUE(conditions.of(2).accepts(0));
  EXPECT_FALSE(conditions.of(3).accepts(0));
  EXPECT_FALSE(conditions.is_empty());
  conditions.on(4).one_of(std::vector<std::string>{});
  EXPECT_TRUE(conditions.is_empty());
}

}  // namespace
}  // namespace strata::query
