// SPDX-License-Identifier: Apache-2.0
#include "top/painter.h"

#include <array>

#include "top/utf8.h"

namespace strata::top {
namespace {

constexpr auto kStyles = static_cast<size_t>(Style::Count_);

struct Look {
  Style style;
  std::string_view none;
  std::string_view sixteen;
  std::string_view many;
};

// In the order of Style. What must be told apart without colours is so by other means.
constexpr std::array<Look, kStyles> kLooks = {{
    {Style::Plain, "\033[0m", "\033[0m", "\033[0m"},
    {Style::Dim, "\033[0m", "\033[0;90m", "\033[0;38;5;243m"},
    {Style::Bold, "\033[0;1m", "\033[0;1m", "\033[0;1m"},
    {Style::Heading, "\033[0;7m", "\033[0;30;42m", "\033[0;38;5;16;48;5;71m"},
    {Style::SortedBy, "\033[0;1;4;7m", "\033[0;30;46m", "\033[0;38;5;16;48;5;80m"},
    {Style::Selected, "\033[0;7m", "\033[0;30;46m", "\033[0;38;5;16;48;5;80m"},
    {Style::Match, "\033[0;1;4m", "\033[0;1;4;33m", "\033[0;1;4;38;5;221m"},
    {Style::KeyName, "\033[0;1m", "\033[0;1m", "\033[0;1m"},
    {Style::KeyLabel, "\033[0;7m", "\033[0;30;46m", "\033[0;38;5;16;48;5;80m"},
    {Style::Warning, "\033[0;1m", "\033[0;33m", "\033[0;38;5;214m"},
    {Style::Error, "\033[0;1;4m", "\033[0;1;31m", "\033[0;1;38;5;203m"},
    {Style::Good, "\033[0;1m", "\033[0;32m", "\033[0;38;5;114m"},
    {Style::User, "\033[0m", "\033[0;32m", "\033[0;38;5;71m"},
    {Style::System, "\033[0m", "\033[0;34m", "\033[0;38;5;68m"},
    {Style::Irq, "\033[0m", "\033[0;35m", "\033[0;38;5;134m"},
    {Style::Virt, "\033[0m", "\033[0;36m", "\033[0;38;5;73m"},
    {Style::Idle, "\033[0m", "\033[0;90m", "\033[0;38;5;240m"},
    {Style::Waiting, "\033[0m", "\033[0;33m", "\033[0;38;5;214m"},
    {Style::Blocked, "\033[0m", "\033[0;31m", "\033[0;38;5;167m"},
    {Style::Unknown, "\033[0;1m", "\033[0;90m", "\033[0;38;5;243m"},
    {Style::Read, "\033[0m", "\033[0;32m", "\033[0;38;5;71m"},
    {Style::Written, "\033[0m", "\033[0;33m", "\033[0;38;5;172m"},
}};

// What bars and trees are made of, where a terminal has nothing but ASCII.
char ascii_of(char32_t glyph) {
  if (glyph < 0x80) return static_cast<char>(glyph);
  switch (glyph) {
    case U'▁':
    case U'▂':
      return '_';
    case U'▃':
    case U'▄':
      return '-';
    case U'▅':
    case U'▆':
      return '=';
    case U'▇':
    case U'█':
      return '#';
    case U'└':
      return '`';
    case U'–':
    case U'─':
      return '-';
    case U'│':
      return '|';
    default:
      return '?';
  }
}

// Characters that are sent again rather than a movement across them.
constexpr unsigned kShortGap = 4;

}  // namespace

std::string_view look_of(Style style, Colours colours) {
  const Look& look = kLooks[static_cast<size_t>(style)];
  return colours == Colours::None      ? look.none
         : colours == Colours::Sixteen ? look.sixteen
                                       : look.many;
}

void Painter::move_to(unsigned row, unsigned column) {
  out_.put("\033[");
  out_.put_decimal(uint64_t{row} + 1);
  out_.put(';');
  out_.put_decimal(uint64_t{column} + 1);
  out_.put('H');
}

void Painter::put_style(Style style) { out_.put(look_of(style, codes_.colours)); }

void Painter::put_glyph(char32_t glyph) {
  if (glyph < 0x80 || !codes_.is_utf8) return out_.put(ascii_of(glyph));
  std::string text;
  append_utf8(glyph, text);
  out_.put(text);
}

std::string_view Painter::paint(const Grid& grid) {
  out_.clear();
  const bool is_other =
      !has_shown_ || shown_.width() != grid.width() || shown_.height() != grid.height();
  if (is_other) {
    out_.put(look_of(Style::Plain, codes_.colours));
    out_.put(codes_.clear);
    shown_ = Grid(grid.width(), grid.height());
  }
  Style style = Style::Count_;
  for (unsigned row = 0; row < grid.height(); ++row) {
    unsigned at = UINT32_MAX;  // where the cursor is in this row
    for (unsigned column = 0; column < grid.width(); ++column) {
      if (grid.at(row, column) == shown_.at(row, column)) continue;
      if (at > column || column - at > kShortGap) {
        move_to(row, column);
        at = column;
      }
      for (; at <= column; ++at) {
        const Cell& cell = grid.at(row, at);
        if (cell.style != style) put_style(style = cell.style);
        put_glyph(cell.glyph);
      }
    }
  }
  if (style != Style::Count_ && style != Style::Plain) put_style(Style::Plain);
  shown_ = grid;
  has_shown_ = true;
  return out_.view();
}

}  // namespace strata::top
