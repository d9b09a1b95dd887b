// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "top/board.h"
#include "top/help.h"

namespace strata::top {

void Board::draw_status(const Moment& moment, Grid& grid, unsigned row) {
  unsigned at = grid.put(row, 0, label_of(screen_), Style::Bold);
  const auto put = [&](std::string_view text, Style style) { at = grid.put(row, at, text, style); };
  if (opened_) put(": " + opened_->title, Style::Bold);
  if (threads_ && is_of_tasks(screen_)) put(" threads", Style::Plain);
  const std::string lines = filter_ && !opened_
                                ? fmt::format(" {} of {}", list().lines(), sheet_->size())
                                : fmt::format(" {}", list().lines());
  put(lines, Style::Dim);
  if (!list().keeps_order())
    put(fmt::format(" by {}{}", list().sorted_by(), list().is_inverted() ? " inverted" : ""),
        Style::Dim);
  if (filter_ && !opened_) put("  filter: " + filter_->text(), Style::Warning);
  if (table_.machines.size() > 1)
    put(fmt::format("  machine {} of {}", machine_ + 1, table_.machines.size()), Style::Dim);
  put("  ", Style::Plain);
  if (!remark_.empty())
    put(remark_, Style::Error);
  else if (!moment.message.empty())
    put(moment.message, moment.is_alarm ? Style::Error : Style::Good);
  else if (!moment.shortfalls.empty())
    put(moment.shortfalls.front(), Style::Warning);
}

void Board::draw_keys(Grid& grid, unsigned row) {
  bottom_ = row;
  buttons_.clear();
  unsigned at = 0;
  const auto put = [&](KeyCode code, std::string_view name, std::string_view label, bool is_on) {
    buttons_.push_back({at, code});
    at = grid.put(row, at, name, Style::KeyName);
    at = grid.put(row, at, label, is_on ? Style::SortedBy : Style::KeyLabel);
    at = grid.put(row, at, " ", Style::Plain);
  };
  put(KeyCode::F1, "F1", "Help", has_help_);
  for (size_t i = 0; i < kScreens; ++i) {
    const std::string name = fmt::format("F{}", i + 2);
    put(key_of(Screen(i)), name, label_of(Screen(i)), screen_ == Screen(i));
  }
  put(KeyCode::F10, "F10", "Quit", false);
}

unsigned Board::draw_opened_task(const Moment& moment, Grid& grid, unsigned row, unsigned bottom) {
  const TaskSheet tasks(machine(), task_lines(), users_);
  size_t line = 0;
  while (line < tasks.size() && tasks.key(line) != opened_->key) ++line;
  if (line == tasks.size()) {
    grid.put(row++, 0, "in this period it was not there", Style::Warning);
  } else {
    const unsigned most = bottom > row + 6 ? bottom - row - 6 : 1;
    row += draw_task(tasks.row(line), machine(), scale(), users_, grid, row, most);
  }
  if (moment.history != nullptr && !moment.history->empty())
    past_.find(*moment.history, moment.position, machine().name, task_lines(), opened_->key,
               std::max(grid.height(), 1u));
  arrange();
  return row;
}

unsigned Board::height_of_all(unsigned width) const {
  Grid grid(width, 1);
  Grid header(width, 100);
  const unsigned top = draw_header(table_, machine(), {}, std::nullopt, header);
  const size_t lines = lists_[static_cast<size_t>(screen_)].lines();
  return top + 3 + static_cast<unsigned>(std::min<size_t>(lines, 1'000'000));
}

void Board::draw(const Moment& moment, Grid& grid) {
  grid.clear();
  if (grid.height() == 0) return;
  unsigned row = draw_header(table_, machine(), moment, before_, grid);
  const unsigned bottom = grid.height() - 1;
  const unsigned status = row++;
  const bool is_task = opened_ && is_of_tasks(screen_) && screen_ != Screen::Io;
  if (is_task && row < bottom) row = draw_opened_task(moment, grid, row, bottom);
  if (row < bottom) list().draw(*sheet_, scale(), searched_, grid, row, bottom - row);
  draw_status(moment, grid, status);
  if (menu_.is_open()) menu_.draw(grid, status);
  if (has_help_) draw_help(grid, 1);
  const std::string blank(grid.width(), ' ');
  grid.put(bottom, 0, blank, Style::Plain);
  if (prompt_.is_open())
    prompt_.draw(grid, bottom);
  else
    draw_keys(grid, bottom);
}

}  // namespace strata::top
