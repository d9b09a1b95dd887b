// SPDX-License-Identifier: Apache-2.0
#include "top/value.h"

#include <gtest/gtest.h>

namespace strata::top {
namespace {

constexpr Scale kSeconds{2'000'000'000};

TEST(Value, IsShownInTheUnitThatPeopleSee) {
  EXPECT_EQ(text_of(Value::of(500'000'000), Shown::Share, kSeconds), "25.0");
  EXPECT_EQ(text_of(Value::of(3'000'000), Shown::BytesPerSecond, kSeconds), "1.50M");
  EXPECT_EQ(text_of(Value::of(2469), Shown::PerSecond, kSeconds), "1.23k");
  EXPECT_EQ(text_of(Value::of(1234), Shown::Id, kSeconds), "1234");
  EXPECT_EQ(text_of(Value::of(1234), Shown::Ratio, kSeconds), "1.23");
  EXPECT_EQ(text_of(Value::of(123), Shown::Percent, kSeconds), "12.3");
  EXPECT_EQ(text_of(Value::of(500'000'001), Shown::Share, {2'000'000'000, true}), "500,000,001");
}

TEST(Value, TellsHowCertainItIs) {
  EXPECT_EQ(text_of(Value::of(500'000'000, true), Shown::Share, kSeconds), "~25.0");
  EXPECT_EQ(text_of(Value::unknown(), Shown::Share, kSeconds), "?");
  EXPECT_EQ(text_of(Value(), Shown::Share, kSeconds), "");
}

TEST(Value, NumbersHaveThreeDigitsAtMost) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(999), "999");
  EXPECT_EQ(short_number(999.6), "1.00k");
  EXPECT_EQ(short_number(1'234'567), "1.23M");
  EXPECT_EQ(short_number(99'960), "100k");
  EXPECT_EQ(short_number(1.8e19), "18.0E");
}

TEST(Value, DurationsHaveTheirUnit) {
  EXPECT_EQ(short_duration(999), "999ns");
  EXPECT_EQ(short_duration(1000), "1.00us");
  EXPECT_EQ(short_duration(12'345'678), "12.3ms");
  EXPECT_EQ(short_duration(2'500'000'000), "2.50s");
  EXPECT_EQ(short_duration(90'000'000'000), "1.50m");
}

}  // namespace
}  // namespace strata::top
