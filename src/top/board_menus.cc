// SPDX-License-Identifier: Apache-2.0
//
// What lists are sorted by, which columns they have, and which performance counters are watched for
// these.
#include <algorithm>
#include <utility>

#include "top/board.h"
#include "top/counter_columns.h"

namespace strata::top {

void Board::show_counters(std::vector<std::string> names) {
  counters_ = std::move(names);
  List& list = lists_[static_cast<size_t>(Screen::Perf)];
  for (const SheetColumn& column : kCounterSheetColumns)
    if (std::ranges::find(counters_, TaskSheet::counter_of(column.name)) == counters_.end())
      list.remove(column.name);
  arrange();
}

void Board::open_sort_menu() {
  std::vector<MenuItem> items;
  size_t at = 0;
  for (const SheetColumn& column : sheet_->columns()) {
    const bool is_it = column.name == list().sorted_by();
    if (is_it) at = items.size();
    items.push_back({column.name, column.meaning, is_it});
  }
  menu_sorts_ = true;
  menu_.open("sort by", std::move(items), at);
}

void Board::open_column_menu() {
  std::vector<MenuItem> items;
  for (const SheetColumn& column : sheet_->columns())
    items.push_back({column.name, column.meaning, is_shown(column.name)});
  menu_sorts_ = false;
  menu_.open("columns (Enter or Space: on, off)", std::move(items), 0);
}

void Board::choose_from_menu() {
  MenuItem& item = menu_.items()[menu_.at()];
  if (menu_sorts_) {
    if (item.name != list().sorted_by()) list().sort_by(item.name);
    menu_.close();
  } else {
    toggle_column(item.name);
    item.is_on = is_shown(item.name);
  }
  arrange();
}

// A counter that nobody tells yet is shown as soon as it is told.
bool Board::is_shown(std::string_view column) const {
  const auto& shown =
      opened_ ? opened_->list.columns() : lists_[static_cast<size_t>(screen_)].columns();
  if (std::ranges::find(shown, column) == shown.end()) return false;
  const std::optional<size_t> at = column_called(*sheet_, column);
  if (!at || sheet_->is_told(*at)) return true;
  return std::ranges::find(counters_, TaskSheet::counter_of(column)) != counters_.end();
}

// What is watched of performance counters is what columns show.
void Board::toggle_column(std::string_view column) {
  const std::string_view counter = opened_ ? "" : TaskSheet::counter_of(column);
  const bool was_shown = is_shown(column);
  const auto& in_list = list().columns();
  const bool was_in_list = std::ranges::find(in_list, column) != in_list.end();
  if (was_in_list == was_shown) list().toggle(column);
  if (counter.empty() || !is_of_tasks(screen_)) return;
  if (counters_.empty())
    for (const period::ColumnInfo& info : period::kColumns)
      if (is_counter(info.id) &&
          machine().marks.of(period::RowKind::Task, info.id) != period::Certainty::Unknown)
        counters_.emplace_back(info.counter);
  std::erase(counters_, counter);
  if (was_shown) return;
  counters_.emplace_back(counter);
  want({period::Group::Counters});
}

}  // namespace strata::top
