// SPDX-License-Identifier: Apache-2.0
#include "top/grid.h"

#include <gtest/gtest.h>

#include "shown_tables.h"

namespace strata::top {
namespace {

TEST(Grid, TextEndsWhereTheLineDoes) {
  Grid grid(10, 2);
  EXPECT_EQ(grid.put(0, 7, "abcdef", Style::Plain), 10u);
  EXPECT_EQ(grid.put(1, 0, "abcdef", Style::Plain, 3), 3u);
  EXPECT_EQ(text_of_row(grid, 0), "       abc");
  EXPECT_EQ(text_of_row(grid, 1), "abc");
  grid.put(2, 0, "outside", Style::Plain);
  grid.put(0, 10, "outside", Style::Plain);
  EXPECT_EQ(text_of_grid(grid), "       abc\nabc\n");
}

TEST(Grid, WhatCouldMoveOrColourATerminalIsAQuestionMark) {
  Grid grid(20, 1);
  grid.put(0, 0, "a\033[2J\r\n\t\x7f\x9b\xc2\x9b", Style::Plain);
  EXPECT_EQ(text_of_row(grid, 0), "a?[2J??????");
  for (unsigned column = 0; column < 20; ++column) {
    EXPECT_GE(grid.at(0, column).glyph, U' ');
    EXPECT_NE(grid.at(0, column).glyph, U'\x7f');
  }
}

TEST(Grid, ACharacterTakesOneColumnOrIsAQuestionMark) {
  Grid grid(8, 1);
  // An umlaut, an ideograph (two columns), a mark that joins the one before it (none), a letter.
  EXPECT_EQ(grid.put(0, 0, "\xc3\xa4\xe4\xb8\xad\xcc\x81z", Style::Plain), 4u);
  EXPECT_EQ(grid.at(0, 0).glyph, U'ä');
  EXPECT_EQ(grid.at(0, 1).glyph, U'?');
  EXPECT_EQ(grid.at(0, 2).glyph, U'?');
  EXPECT_EQ(grid.at(0, 3).glyph, U'z');
}

TEST(Grid, OverlongAndCutCharactersAreNone) {
  Grid grid(8, 1);
  grid.put(0, 0, "\xc0\xaf|\xe0\x80\xaf|\xe2\x82", Style::Plain);
  EXPECT_EQ(text_of_row(grid, 0), "??|?|?");
}

}  // namespace
}  // namespace strata::top
