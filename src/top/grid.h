// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "top/style.h"

namespace strata::top {

struct Cell {
  char32_t glyph = U' ';  // one column wide, and never a control character
  Style style = Style::Plain;
  bool operator==(const Cell&) const = default;
};

// A screen full of characters. Screens write into one, and the terminal shows how it differs from
// the one before.
class Grid {
 public:
  Grid(unsigned width, unsigned height) { resize(width, height); }

  unsigned width() const { return width_; }
  unsigned height() const { return height_; }
  // Empties it.
  void resize(unsigned width, unsigned height) {
    width_ = width;
    height_ = height;
    cells_.assign(size_t{width} * height, Cell{});
  }
  void clear() { cells_.assign(cells_.size(), Cell{}); }
  const Cell& at(unsigned row, unsigned column) const {
    return cells_[size_t{row} * width_ + column];
  }

  // Writes from a place on, as far as the line reaches and at most `most` columns; gives the column
  // behind it. What lies outside is left out. The text is UTF-8 from anywhere: what is no character
  // of one column shows as '?', so that no name can move or colour the terminal.
  unsigned put(unsigned row, unsigned column, std::string_view text, Style style,
               unsigned most = UINT32_MAX);
  // The style alone, of this many cells.
  void paint(unsigned row, unsigned column, unsigned count, Style style);

 private:
  unsigned width_ = 0;
  unsigned height_ = 0;
  std::vector<Cell> cells_;
};

}  // namespace strata::top
