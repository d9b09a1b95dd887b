// SPDX-License-Identifier: Apache-2.0
#include "trace/text_filter.h"

#include <gtest/gtest.h>

#include <map>

namespace strata::trace {
namespace {

bool matches(std::string_view filter) {
  static const std::map<std::string_view, std::string_view> row = {
      {"vm", "web1/0"}, {"comm", "qemu-system"}, {"mode", "VIRT"}, {"cpu", "12"}};
  const Result<TextFilter> parsed = TextFilter::parse(filter);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().text();
    return false;
  }
  return parsed->matches([](std::string_view field) -> std::optional<std::string_view> {
    const auto found = row.find(field);
    if (found == row.end()) return std::nullopt;
    return found->second;
  });
}

TEST(TextFilter, ComparesTextsAndPatterns) {
  EXPECT_TRUE(matches("vm=web1/0 and comm~qemu* and mode=VIRT"));
  EXPECT_TRUE(matches("mode == 'VIRT'"));
  EXPECT_FALSE(matches("mode != VIRT"));
  EXPECT_FALSE(matches("comm ~ qemu"));
  EXPECT_TRUE(matches("not (mode=USER or mode=IDLE)"));
}

TEST(TextFilter, ComparesNumbersAsNumbers) {
  EXPECT_TRUE(matches("cpu > 9"));
  EXPECT_FALSE(matches("cpu < 9"));
  EXPECT_FALSE(matches("mode > 9"));
}

TEST(TextFilter, NumbersMayBeWrittenAsPeopleDo) {
  EXPECT_TRUE(matches("cpu > 0.0119k"));
  EXPECT_FALSE(matches("cpu > 0.0121k"));
  EXPECT_TRUE(matches("cpu < 1M and cpu < 1G and cpu >= 12%"));
  EXPECT_FALSE(TextFilter::parse("cpu > 10x"));
  EXPECT_FALSE(TextFilter::parse("cpu > M"));
}

TEST(TextFilter, WhatHasNoSuchTextDoesNotFulfilIt) {
  EXPECT_FALSE(matches("user = 0"));
  EXPECT_FALSE(matches("user != 0"));
}

TEST(TextFilter, SaysWhereItStopsMakingSense) {
  const Result<TextFilter> parsed = TextFilter::parse("mode = VIRT and");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().offset, 15u);
}

}  // namespace
}  // namespace strata::trace
