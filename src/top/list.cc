// SPDX-License-Identifier: Apache-2.0
#include "top/list.h"

#include <algorithm>
#include <numeric>

namespace strata::top {
namespace {

constexpr uint8_t kDeepest = 20;  // that is indented

bool is_text(const SheetColumn& column) { return column.shown == Shown::Text; }
// Largest first, but for names and what is a name.
bool descends(const SheetColumn& column) {
  return column.shown != Shown::Text && column.shown != Shown::Id;
}

unsigned width_of(const SheetColumn& column, const Scale& scale) {
  return column.width != 0 ? column.width : width_of(column.shown, scale);
}

}  // namespace

List::List(std::vector<std::string_view> columns, std::string_view sorted_by)
    : columns_(std::move(columns)), sorted_by_(sorted_by) {}

void List::arrange(const Sheet& sheet, const Scale& scale, const LineFilter* filter,
                   const period::Machine& machine) {
  order_.clear();
  for (size_t line = 0; line < sheet.size(); ++line)
    if (filter == nullptr || filter->matches(sheet, line, scale, machine))
      order_.push_back(static_cast<uint32_t>(line));
  if (!keeps_order_) sort(sheet);
  put_children_below(sheet);
  if (followed_) {
    const auto found =
        std::ranges::find(order_, *followed_, [&](uint32_t line) { return sheet.key(line); });
    if (found != order_.end()) place_ = static_cast<size_t>(found - order_.begin());
  }
  if (place_ >= order_.size()) place_ = order_.empty() ? 0 : order_.size() - 1;
}

void List::sort(const Sheet& sheet) {
  const std::optional<size_t> column = column_called(sheet, sorted_by_);
  if (!column) return;
  struct Sorted {
    uint32_t line;
    bool is_told;
    uint64_t number;
    std::string text;
    LineKey key;
  };
  std::vector<Sorted> all;
  all.reserve(order_.size());
  for (const uint32_t line : order_) {
    Value value = sheet.value(line, *column);
    const bool is_told = value.kind == Value::Kind::Number || value.kind == Value::Kind::Text;
    all.push_back({line, is_told, value.number, std::move(value.text), sheet.key(line)});
  }
  const bool is_down = descends(sheet.columns()[*column]) != is_inverted_;
  std::ranges::sort(all, [&](const Sorted& a, const Sorted& b) {
    if (a.is_told != b.is_told) return a.is_told;  // what is not known comes last
    const auto order = std::tie(a.number, a.text) <=> std::tie(b.number, b.text);
    if (order != 0) return is_down ? order > 0 : order < 0;
    return std::tie(a.key.first, a.key.second) < std::tie(b.key.first, b.key.second);
  });
  std::ranges::transform(all, order_.begin(), &Sorted::line);
}

void List::put_children_below(const Sheet& sheet) {
  depths_.assign(order_.size(), 0);
  std::vector<std::vector<uint32_t>> children(sheet.size());
  std::vector<bool> is_here(sheet.size());
  for (const uint32_t line : order_) is_here[line] = true;
  std::vector<uint32_t> tops;
  bool is_tree = false;
  for (const uint32_t line : order_) {
    const std::optional<size_t> parent = sheet.parent(line);
    const bool is_below = parent && is_here[*parent];
    is_tree = is_tree || is_below;
    (is_below ? children[*parent] : tops).push_back(line);
  }
  if (!is_tree) return;
  order_.clear();
  depths_.clear();
  // From the last to the first, so that the first is taken first. What is its own ancestor, as only
  // damaged tables have it, is never reached.
  std::vector<std::pair<uint32_t, uint8_t>> open;
  for (size_t i = tops.size(); i-- > 0;) open.emplace_back(tops[i], uint8_t{0});
  while (!open.empty()) {
    const auto [line, depth] = open.back();
    open.pop_back();
    order_.push_back(line);
    depths_.push_back(depth);
    for (size_t i = children[line].size(); i-- > 0;)
      open.emplace_back(children[line][i],
                        static_cast<uint8_t>(std::min<int>(depth + 1, kDeepest)));
  }
}

std::optional<size_t> List::selected() const {
  if (place_ >= order_.size()) return std::nullopt;
  return order_[place_];
}

void List::select(const Sheet& sheet, size_t place) {
  if (order_.empty()) return;
  place_ = std::min(place, order_.size() - 1);
  // At the top the list is followed, and no line.
  followed_.reset();
  if (place_ != 0) followed_ = sheet.key(order_[place_]);
}

bool List::press(const Key& key, const Sheet& sheet) {
  const size_t page = height_ > 2 ? height_ - 1 : 1;
  switch (key.code) {
    case KeyCode::Up:
      select(sheet, place_ - std::min<size_t>(place_, 1));
      return true;
    case KeyCode::Down:
      select(sheet, place_ + 1);
      return true;
    case KeyCode::PageUp:
      select(sheet, place_ - std::min(place_, page));
      return true;
    case KeyCode::PageDown:
      select(sheet, place_ + page);
      return true;
    case KeyCode::WheelUp:
      select(sheet, place_ - std::min<size_t>(place_, 3));
      return true;
    case KeyCode::WheelDown:
      select(sheet, place_ + 3);
      return true;
    case KeyCode::Press: {
      if (key.row > top_ && key.row < top_ + height_) {
        if (first_ + key.row - top_ - 1 < order_.size()) select(sheet, first_ + key.row - top_ - 1);
        return true;
      }
      if (key.row != top_) return false;
      for (const Placed& placed : placed_)
        if (key.column >= placed.at && key.column < placed.at + placed.width)
          sort_by(sheet.columns()[placed.column].name);
      return true;
    }
    case KeyCode::Character:
      break;
    default:
      return false;
  }
  if (key.control || key.alt) return false;
  const auto sort_beside = [&](int step) {
    const std::vector<std::string_view> all = told_columns(sheet);
    if (all.empty()) return;
    const auto now = std::ranges::find(all, sorted_by_);
    const auto at = now == all.end() ? 0 : now - all.begin();
    const auto count = static_cast<std::ptrdiff_t>(all.size());
    sort_by(all[static_cast<size_t>((at + step + count) % count)]);
  };
  switch (key.character) {
    case U'g':
      select(sheet, 0);
      return true;
    case U'G':
      select(sheet, order_.size());
      return true;
    case U'<':
      sort_beside(-1);
      return true;
    case U'>':
      sort_beside(1);
      return true;
    case U'I':
      is_inverted_ = !is_inverted_;
      return true;
    default:
      return false;
  }
}

bool List::find(const Sheet& sheet, const Scale& scale, std::string_view word, int step,
                bool may_stay) {
  const auto has = [&](uint32_t line) {
    const std::span<const SheetColumn> columns = sheet.columns();
    for (size_t column = 0; column < columns.size(); ++column)
      if (is_text(columns[column]) &&
          contains_word(text_of(sheet.value(line, column), Shown::Text, scale), word))
        return true;
    return false;
  };
  const size_t count = order_.size();
  for (size_t i = may_stay ? 0 : 1; i <= count && count > 0; ++i) {
    const size_t place = step > 0 ? (place_ + i) % count : (place_ + count - i % count) % count;
    if (!has(order_[place])) continue;
    select(sheet, place);
    followed_ = sheet.key(order_[place]);
    return true;
  }
  return false;
}

void List::sort_by(std::string_view column) {
  keeps_order_ = false;
  if (column == sorted_by_)
    is_inverted_ = !is_inverted_;
  else
    is_inverted_ = false;
  sorted_by_ = column;
}

void List::toggle(std::string_view column) {
  const auto found = std::ranges::find(columns_, column);
  if (found == columns_.end())
    columns_.insert(
        columns_.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(columns_.size(), 2)),
        column);
  else if (columns_.size() > 1)
    columns_.erase(found);
}

void List::remove(std::string_view column) { std::erase(columns_, column); }

std::vector<std::string_view> List::told_columns(const Sheet& sheet) const {
  std::vector<std::string_view> told;
  for (const std::string_view name : columns_)
    if (const auto column = column_called(sheet, name); column && sheet.is_told(*column))
      told.push_back(name);
  return told;
}

std::vector<List::Placed> List::place(const Sheet& sheet, const Scale& scale,
                                      unsigned width) const {
  // What the last column has at least: names are what people look for.
  const std::vector<std::string_view> columns = told_columns(sheet);
  if (columns.empty()) return {};
  const std::optional<size_t> last = column_called(sheet, columns.back());
  const unsigned own_last = last ? sheet.columns()[*last].width : 0;
  const unsigned least_last = std::max<unsigned>(own_last, std::min(width / 6, 40u));
  std::vector<Placed> placed;
  unsigned at = 0;
  bool is_full = false;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::optional<size_t> column = column_called(sheet, columns[i]);
    if (!column) continue;
    const bool is_last = i + 1 == columns.size();
    const unsigned own = width_of(sheet.columns()[*column], scale);
    if (!is_last && (is_full || at + own + 1 + least_last > width)) {
      is_full = true;
      continue;
    }
    const bool takes_rest = is_last && is_text(sheet.columns()[*column]);
    const unsigned size = std::min(takes_rest ? width : own, width - std::min(width, at));
    if (size == 0) break;
    placed.push_back({*column, at, size});
    at += size + 1;
  }
  return placed;
}

void List::draw(const Sheet& sheet, const Scale& scale, std::string_view searched, Grid& grid,
                unsigned top, unsigned height) {
  top_ = top;
  height_ = height;
  placed_ = place(sheet, scale, grid.width());
  if (height == 0) return;
  grid.paint(top, 0, grid.width(), Style::Heading);
  for (const Placed& placed : placed_) {
    const SheetColumn& column = sheet.columns()[placed.column];
    const bool is_sorted = column.name == sorted_by_;
    std::string heading(column.heading);
    if (scale.in_ns && column.shown == Shown::Share && heading.ends_with('%'))
      heading.replace(heading.size() - 1, 1, " ns");
    const auto shift = is_text(column) || heading.size() >= placed.width
                           ? 0
                           : placed.width - static_cast<unsigned>(heading.size());
    const Style style = is_sorted ? Style::SortedBy : Style::Heading;
    grid.paint(top, placed.at, placed.width, style);
    grid.put(top, placed.at + shift, heading, style, placed.width);
  }
  const size_t rows = height - 1;
  if (place_ < first_) first_ = place_;
  if (rows > 0 && place_ >= first_ + rows) first_ = place_ - rows + 1;
  if (first_ + rows > order_.size()) first_ = order_.size() > rows ? order_.size() - rows : 0;
  for (size_t i = 0; i < rows && first_ + i < order_.size(); ++i)
    draw_line(sheet, scale, searched, grid, top + 1 + static_cast<unsigned>(i), first_ + i);
}

void List::draw_line(const Sheet& sheet, const Scale& scale, std::string_view searched, Grid& grid,
                     unsigned row, size_t place) {
  const uint32_t line = order_[place];
  const bool is_selected = place == place_;
  if (is_selected) grid.paint(row, 0, grid.width(), Style::Selected);
  for (const Placed& placed : placed_) {
    const SheetColumn& column = sheet.columns()[placed.column];
    const Value value = sheet.value(line, placed.column);
    const std::string text = text_of(value, column.shown, scale);
    Style style = sheet.style(line, placed.column);
    if (value.kind == Value::Kind::Unknown) style = Style::Unknown;
    if (value.kind == Value::Kind::Number && value.number == 0) style = Style::Dim;
    if (is_text(column) && !searched.empty() && contains_word(text, searched)) style = Style::Match;
    if (is_selected) style = Style::Selected;
    unsigned at = placed.at;
    unsigned width = placed.width;
    if (is_text(column)) {
      // The last column is where a tree shows.
      if (&placed == &placed_.back() && depths_[place] > 0) {
        const unsigned indent = std::min(2u * depths_[place], width);
        if (indent >= 2) grid.put(row, at + indent - 2, "└ ", is_selected ? style : Style::Dim, 2);
        at += indent;
        width -= indent;
      }
    } else if (text.size() < width) {
      at += width - static_cast<unsigned>(text.size());
    }
    grid.put(row, at, text, style, width - (at - placed.at > width ? width : 0));
  }
}

}  // namespace strata::top
