// SPDX-License-Identifier: Apache-2.0
//
// What is sent is applied to a terminal made for this: what it shows then is the grid.
#include "top/painter.h"

#include <gtest/gtest.h>

#include <charconv>
#include <random>

#include "top/utf8.h"

namespace strata::top {
namespace {

const std::string kClear = "\033[H\033[2J";

// Cursor movements, clearing and SGR, by ECMA-48. Everything else fails.
class Shown {
 public:
  Shown(unsigned width, unsigned height) : width_(width), cells_(width * height) {}

  void apply(std::string_view text) {
    while (!text.empty()) {
      if (text.starts_with("\033[")) {
        const size_t end = text.find_first_not_of("0123456789;", 2);
        ASSERT_NE(end, std::string_view::npos);
        control(text.substr(2, end - 2), text[end], text.substr(0, end + 1));
        text.remove_prefix(end + 1);
        continue;
      }
      const Utf8 next = first_of_utf8(text);
      ASSERT_TRUE(next.is_valid);
      ASSERT_GE(next.character, U' ');
      ASSERT_LT(at_ % width_ + (at_ / width_) * width_, cells_.size());
      cells_[at_++] = {next.character, look_};
      text.remove_prefix(next.size);
    }
  }
  void expect(const Grid& grid, Colours colours) const {
    for (unsigned row = 0; row < grid.height(); ++row)
      for (unsigned column = 0; column < grid.width(); ++column) {
        const auto& [glyph, look] = cells_[row * width_ + column];
        ASSERT_EQ(glyph, grid.at(row, column).glyph) << row << ',' << column;
        ASSERT_EQ(look, look_of(grid.at(row, column).style, colours)) << row << ',' << column;
      }
  }

 private:
  struct Cell {
    char32_t glyph = U' ';
    std::string look = "\033[0m";
  };
  void control(std::string_view numbers, char last, std::string_view whole) {
    if (last == 'm') {
      look_ = whole;
    } else if (last == 'J') {
      EXPECT_EQ(numbers, "2");
      for (Cell& cell : cells_) cell = {U' ', look_};
    } else {
      ASSERT_EQ(last, 'H');
      unsigned row = 1;
      unsigned column = 1;
      if (const size_t between = numbers.find(';'); between != std::string_view::npos) {
        std::from_chars(numbers.data(), numbers.data() + between, row);
        std::from_chars(numbers.data() + between + 1, numbers.data() + numbers.size(), column);
      }
      at_ = (row - 1) * width_ + column - 1;
    }
  }
  unsigned width_;
  std::vector<Cell> cells_;
  size_t at_ = 0;
  std::string look_ = "\033[0m";
};

TEST(Painter, ATerminalShowsEveryGridThatWasPainted) {
  for (const Colours colours : {Colours::None, Colours::Sixteen, Colours::Many}) {
    std::mt19937 random(7);
    Painter painter({.colours = colours, .clear = kClear});
    Shown shown(30, 8);
    Grid grid(30, 8);
    for (int round = 0; round < 200; ++round) {
      for (int changes = static_cast<int>(random() % 20); changes > 0; --changes) {
        const char* texts[] = {"a", "load", "ä█", "   ", "0123456789"};
        grid.put(random() % 8, random() % 30, texts[random() % 5],
                 Style(random() % static_cast<unsigned>(Style::Count_)));
      }
      shown.apply(painter.paint(grid));
      shown.expect(grid, colours);
    }
  }
}

TEST(Painter, WhatStaysTheSameIsNotSent) {
  Painter painter({.clear = kClear});
  Grid grid(80, 24);
  grid.put(3, 3, "something", Style::Bold);
  EXPECT_FALSE(painter.paint(grid).empty());
  EXPECT_EQ(painter.paint(grid), "");
  grid.put(10, 40, "x", Style::Plain);
  EXPECT_EQ(painter.paint(grid), "\033[11;41H\033[0mx");
  painter.forget();
  EXPECT_TRUE(painter.paint(grid).starts_with("\033[0m" + kClear));
}

TEST(Painter, ATerminalOfAsciiGetsAscii) {
  Painter painter({.is_utf8 = false, .clear = kClear});
  Grid grid(4, 1);
  grid.put(0, 0, "█└ä", Style::Plain);
  EXPECT_EQ(painter.paint(grid), "\033[0m" + kClear + "\033[1;1H\033[0m#`?");
}

TEST(Painter, WithoutColoursThereAreNone) {
  for (size_t style = 0; style < static_cast<size_t>(Style::Count_); ++style) {
    const std::string_view look = look_of(Style(style), Colours::None);
    EXPECT_EQ(look.find_first_not_of("0147;", 2), look.size() - 1) << look.substr(1);
  }
}

}  // namespace
}  // namespace strata::top
