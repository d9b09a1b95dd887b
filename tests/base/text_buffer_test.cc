// SPDX-License-Identifier: Apache-2.0
#include "base/text_buffer.h"

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace strata {
namespace {

template <typename... Arguments>
std::string formatted(const char* format, Arguments... arguments) {
  char text[128];
  snprintf(text, sizeof text, format, arguments...);
  return text;
}

// Around every power of two and of ten, and some from anywhere.
std::vector<uint64_t> numbers() {
  std::vector<uint64_t> all = {0};
  for (uint64_t power = 1;; power *= 10) {
    for (uint64_t near : {power - 1, power, power + 1}) all.push_back(near);
    if (power > UINT64_MAX / 10) break;
  }
  for (unsigned bit = 0; bit < 64; ++bit)
    for (uint64_t near : {-1, 0, 1}) all.push_back((uint64_t{1} << bit) + near);
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) all.push_back(random() >> (random() % 64));
  return all;
}

TEST(TextBuffer, DecimalsOfAllMagnitudesAreThoseOfPrintf) {
  for (uint64_t n : numbers()) {
    TextBuffer out;
    out.put_decimal(n);
    ASSERT_EQ(out.view(), formatted("%" PRIu64, n));
    out.clear();
    out.put_decimal(static_cast<int64_t>(n));
    ASSERT_EQ(out.view(), formatted("%" PRId64, static_cast<int64_t>(n)));
  }
}

TEST(TextBuffer, HexOfAllMagnitudesIsThatOfPrintf) {
  for (uint64_t n : numbers()) {
    TextBuffer out;
    out.put_hex(n);
    ASSERT_EQ(out.view(), formatted("%" PRIx64, n));
  }
}

TEST(TextBuffer, AlignedDecimalsAreThoseOfPrintf) {
  for (uint64_t n : numbers())
    for (unsigned width : {0u, 1u, 3u, 9u, 20u, 25u}) {
      TextBuffer out;
      out.put_decimal(n, width, ' ');
      ASSERT_EQ(out.view(), formatted("%*" PRIu64, static_cast<int>(width), n));
      out.clear();
      out.put_decimal(n, width, '0');
      ASSERT_EQ(out.view(), formatted("%0*" PRIu64, static_cast<int>(width), n));
    }
}

TEST(WriteDigits, StayWithinTheRoomTheyAskFor) {
  for (uint64_t n : numbers()) {
    char text[21];
    text[20] = '!';
    ASSERT_LE(write_decimal(text, n) - text, 20);
    ASSERT_LE(write_decimal(text, static_cast<int64_t>(n)) - text, 20);
    ASSERT_EQ(text[20], '!') << n;
    text[16] = '!';
    ASSERT_LE(write_hex(text, n) - text, 16);
    ASSERT_EQ(text[16], '!') << n;
  }
}

TEST(WriteDigits, PaddedToExactlySoMany) {
  for (uint64_t n : {0ull, 7ull, 10ull, 99ull, 123'456ull, 999'999ull, 999'999'999ull})
    for (unsigned digits = 9; digits <= 20; ++digits) {
      char text[21] = {};
      char* end = write_padded(text, n, digits);
      EXPECT_EQ(std::string(text, end),
                formatted("%0*llu", static_cast<int>(digits), static_cast<unsigned long long>(n)));
    }
  char text[8];
  EXPECT_EQ(std::string(text, write_padded(text, 42, 2)), "42");
  EXPECT_EQ(std::string(text, write_padded(text, 42, 6)), "000042");
}

TEST(TextBuffer, GrowsAsNeeded) {
  TextBuffer out(1);
  std::string expected;
  for (int i = 0; i < 2000; ++i) {
    out.put(static_cast<char>('a' + i % 26));
    expected += static_cast<char>('a' + i % 26);
    out.put("some text");
    expected += "some text";
    out.put(static_cast<size_t>(i % 7), '-');
    expected.append(static_cast<size_t>(i % 7), '-');
    out.put_decimal(static_cast<uint64_t>(i));
    expected += std::to_string(i);
  }
  EXPECT_EQ(out.view(), expected);
  EXPECT_EQ(out.size(), expected.size());
}

TEST(TextBuffer, MuchAtOnce) {
  TextBuffer out(16);
  out.put("x");
  const std::string much(1'000'000, 'y');
  out.put(much);
  EXPECT_EQ(out.view(), "x" + much);
}

TEST(TextBuffer, TakesBackWhatWasPut) {
  TextBuffer out;
  EXPECT_TRUE(out.empty());
  out.put("kept, dropped");
  out.truncate(4);
  EXPECT_EQ(out.view(), "kept");
  EXPECT_EQ(out.back(), 't');
  char* at = out.room(3);
  at[0] = '!';
  out.advance_to(at + 1);
  EXPECT_EQ(out.view(), "kept!");
  out.clear();
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(out.view(), "");
}

}  // namespace
}  // namespace strata
