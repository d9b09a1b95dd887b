// SPDX-License-Identifier: Apache-2.0
#include "base/digits.h"

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <random>
#include <string>

namespace strata {
namespace {

template <typename... Arguments>
std::string printed(const char* format, Arguments... arguments) {
  char text[64];
  snprintf(text, sizeof text, format, arguments...);
  return text;
}

std::string digits(uint64_t value) {
  char text[kDigitsRoom];
  return {text, write_digits(text, value)};
}
std::string digits(int64_t value) {
  char text[kDigitsRoom];
  return {text, write_digits(text, value)};
}
std::string hex_digits(uint64_t value, unsigned least) {
  char text[kDigitsRoom];
  return {text, write_hex_digits(text, value, least)};
}

TEST(Digits, NumbersOfEveryLengthAreWhatPrintfWrites) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t value = i < 20'000 ? static_cast<uint64_t>(i) : random() >> random() % 64;
    const auto negative = -static_cast<int64_t>(value >> 1);
    ASSERT_EQ(digits(value), printed("%" PRIu64, value));
    ASSERT_EQ(digits(negative), printed("%" PRId64, negative));
    const unsigned least = 1 + static_cast<unsigned>(i) % 16;
    ASSERT_EQ(hex_digits(value, least), printed("%0*" PRIx64, static_cast<int>(least), value));
  }
}

TEST(Digits, TheEndsOfTheRangesAreWhatPrintfWrites) {
  for (uint64_t power = 1; power < 10'000'000'000'000'000'000u; power *= 10) {
    EXPECT_EQ(digits(power), printed("%" PRIu64, power));
    EXPECT_EQ(digits(power - 1), printed("%" PRIu64, power - 1));
  }
  EXPECT_EQ(digits(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(digits(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(hex_digits(UINT64_MAX, 1), "ffffffffffffffff");
}

}  // namespace
}  // namespace strata
