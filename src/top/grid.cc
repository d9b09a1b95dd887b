// SPDX-License-Identifier: Apache-2.0
#include "top/grid.h"

#include <algorithm>
#include <array>

#include "top/utf8.h"

namespace strata::top {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Characters that every terminal shows in one column: letters without marks of their own width,
// punctuation, and what bars are made of. Whatever else there is may be two columns wide, or none.
constexpr std::array<Range, 14> kNarrow = {{{0x20, 0x7e},
                                            {0xa1, 0xac},
                                            {0xae, 0x2ff},
                                            {0x370, 0x377},
                                            {0x37a, 0x37f},
                                            {0x384, 0x482},
                                            {0x48a, 0x52f},
                                            {0x1e00, 0x1fff},
                                            {0x2010, 0x2027},
                                            {0x2030, 0x205e},
                                            {0x20a0, 0x20bf},
                                            {0x2190, 0x21ff},
                                            {0x2500, 0x259f},
                                            {0x25b2, 0x25bf}}};

bool is_narrow(char32_t character) {
  if (character < 0x7f) return character >= 0x20;
  return std::ranges::any_of(kNarrow, [&](const Range& range) {
    return character >= range.first && character <= range.last;
  });
}

}  // namespace

unsigned Grid::put(unsigned row, unsigned column, std::string_view text, Style style,
                   unsigned most) {
  if (row >= height_ || column >= width_) return column;
  const unsigned end = most < width_ - column ? column + most : width_;
  while (!text.empty() && column < end) {
    const Utf8 next = first_of_utf8(text);
    text.remove_prefix(next.size);
    const bool is_shown = next.is_valid && is_narrow(next.character);
    cells_[size_t{row} * width_ + column++] = {is_shown ? next.character : U'?', style};
  }
  return column;
}

void Grid::paint(unsigned row, unsigned column, unsigned count, Style style) {
  if (row >= height_) return;
  for (; count > 0 && column < width_; --count, ++column)
    cells_[size_t{row} * width_ + column].style = style;
}

}  // namespace strata::top
