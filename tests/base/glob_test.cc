// SPDX-License-Identifier: Apache-2.0
#include "base/glob.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace strata {
namespace {

bool matches(std::string pattern, std::string_view text) {
  return Glob(std::move(pattern)).matches(text);
}

TEST(Glob, ShapesOfOneStar) {
  EXPECT_TRUE(matches("sched_switch", "sched_switch"));
  EXPECT_FALSE(matches("sched_switch", "sched_switches"));
  EXPECT_TRUE(matches("sched*", "sched_switch"));
  EXPECT_TRUE(matches("sched*", "sched"));
  EXPECT_FALSE(matches("sched*", "sche"));
  EXPECT_TRUE(matches("*switch", "sched_switch"));
  EXPECT_TRUE(matches("*d_s*", "sched_switch"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("", ""));
}

TEST(Glob, StarsWithin) {
  EXPECT_TRUE(matches("sys_*_re?d", "sys_enter_read"));
  EXPECT_FALSE(matches("sys_*_re?d", "sys_enter_reads"));
  EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches("a*b*c", "aXbYbZ"));
  EXPECT_TRUE(matches("**a**", "bab"));
}

TEST(Glob, ClassesOfCharacters) {
  EXPECT_TRUE(matches("cpu[0-9]", "cpu7"));
  EXPECT_FALSE(matches("cpu[0-9]", "cpux"));
  EXPECT_TRUE(matches("cpu[!0-9]", "cpux"));
  EXPECT_TRUE(matches("x[]]y", "x]y"));
  EXPECT_TRUE(matches("x[a-]y", "x-y"));
  EXPECT_TRUE(matches("x[y", "x[y"));
  EXPECT_TRUE(matches("*[0-9]*", "kworker/2:1"));
}

TEST(Glob, BackslashTakesTheMeaningAway) {
  EXPECT_TRUE(matches("a\\*b", "a*b"));
  EXPECT_FALSE(matches("a\\*b", "axb"));
  EXPECT_TRUE(matches("a\\*", "a*"));
  EXPECT_FALSE(matches("a\\*", "ab"));
  EXPECT_TRUE(Glob("a\\*b").is_literal());
}

TEST(Glob, AgreesWithTheShell) {
  std::mt19937 random(1);
  auto make = [&](std::string_view alphabet, int longest) {
    std::string s;
    for (int n = static_cast<int>(random() % static_cast<unsigned>(longest + 1)); n > 0; --n)
      s += alphabet[random() % alphabet.size()];
    return s;
  };
  for (int i = 0; i < 200'000; ++i) {
    std::string pattern = make("ab*?", 7);
    std::string text = make("abc", 8);
    ASSERT_EQ(matches(pattern, text), fnmatch(pattern.c_str(), text.c_str(), 0) == 0)
        << pattern << " " << text;
  }
}

TEST(Glob, ManyStarsDoNotBlowUp) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "a*";
  pattern += "b";
  auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(matches(pattern, std::string(20'000, 'a')));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

}  // namespace
}  // namespace strata
