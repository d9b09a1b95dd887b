// SPDX-License-Identifier: Apache-2.0
#include "top/menu.h"

#include <algorithm>

namespace strata::top {

void Menu::open(std::string title, std::vector<MenuItem> items, size_t at) {
  title_ = std::move(title);
  items_ = std::move(items);
  at_ = items_.empty() ? 0 : std::min(at, items_.size() - 1);
  first_ = 0;
}

Menu::Chosen Menu::press(const Key& key) {
  const size_t last = items_.empty() ? 0 : items_.size() - 1;
  switch (key.code) {
    case KeyCode::Up:
    case KeyCode::WheelUp:
      at_ -= std::min<size_t>(at_, 1);
      return Chosen::Nothing;
    case KeyCode::Down:
    case KeyCode::WheelDown:
      at_ = std::min(at_ + 1, last);
      return Chosen::Nothing;
    case KeyCode::PageUp:
      at_ -= std::min(at_, rows_);
      return Chosen::Nothing;
    case KeyCode::PageDown:
      at_ = std::min(at_ + rows_, last);
      return Chosen::Nothing;
    case KeyCode::Enter:
      return items_.empty() ? Chosen::GivenUp : Chosen::This;
    case KeyCode::Press:
      if (key.row < row_ || first_ + key.row - row_ > last) return Chosen::GivenUp;
      at_ = first_ + key.row - row_;
      return Chosen::This;
    case KeyCode::Character:
      if (key.character == U' ') return items_.empty() ? Chosen::GivenUp : Chosen::This;
      return Chosen::GivenUp;
    default:
      return Chosen::GivenUp;
  }
}

void Menu::draw(Grid& grid, unsigned top) {
  const unsigned bottom = grid.height() > 1 ? grid.height() - 1 : grid.height();
  rows_ = bottom > top + 2 ? bottom - top - 1 : 1;
  row_ = top + 1;
  if (at_ < first_) first_ = at_;
  if (at_ >= first_ + rows_) first_ = at_ - rows_ + 1;
  const std::string blank(grid.width(), ' ');
  grid.put(top, 0, blank, Style::Heading);
  grid.put(top, 1, title_, Style::Heading);
  for (size_t i = 0; i < rows_; ++i) {
    const unsigned row = row_ + static_cast<unsigned>(i);
    grid.put(row, 0, blank, Style::Plain);
    if (first_ + i >= items_.size()) continue;
    const MenuItem& item = items_[first_ + i];
    const Style style = first_ + i == at_ ? Style::Selected : Style::Plain;
    grid.paint(row, 0, grid.width(), style);
    grid.put(row, 1, item.is_on ? "[x]" : "[ ]", style);
    grid.put(row, 5, item.name, style, 12);
    grid.put(row, 18, item.meaning, style);
  }
}

}  // namespace strata::top
