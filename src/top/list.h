// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "top/grid.h"
#include "top/key.h"
#include "top/line_filter.h"
#include "top/sheet.h"

namespace strata::top {

// A sheet on screen: which columns, sorted by what, which part of the lines, and the one that keys
// are about. All of that stays when the sheet of another period comes.
class List {
 public:
  // Columns from the left, as far as they fit; the last always, with what is left of the line.
  List(std::vector<std::string_view> columns, std::string_view sorted_by);

  // Puts the lines in order, those that match alone.
  void arrange(const Sheet& sheet, const Scale& scale, const LineFilter* filter,
               const period::Machine& machine);
  // The heading and the lines below it, of the sheet that was arranged last.
  void draw(const Sheet& sheet, const Scale& scale, std::string_view searched, Grid& grid,
            unsigned top, unsigned height);

  size_t lines() const { return order_.size(); }
  // The line of the sheet that keys are about.
  std::optional<size_t> selected() const;

  // Moves within the lines, sorts. False: the key is none of the list's.
  bool press(const Key& key, const Sheet& sheet);
  // The next line with this word in a text, or the one before; the one selected first, if it may
  // stay. False: there is none.
  bool find(const Sheet& sheet, const Scale& scale, std::string_view word, int step, bool may_stay);

  std::string_view sorted_by() const { return sorted_by_; }
  bool is_inverted() const { return is_inverted_; }
  // Lines stay as the sheet has them.
  void keep_order() { keeps_order_ = true; }
  bool keeps_order() const { return keeps_order_; }
  void sort_by(std::string_view column);
  const std::vector<std::string_view>& columns() const { return columns_; }
  void toggle(std::string_view column);
  void remove(std::string_view column);

 private:
  struct Placed {
    size_t column = 0;  // of the sheet
    unsigned at = 0;
    unsigned width = 0;
  };
  // Its columns that somebody tells.
  std::vector<std::string_view> told_columns(const Sheet& sheet) const;
  std::vector<Placed> place(const Sheet& sheet, const Scale& scale, unsigned width) const;
  void sort(const Sheet& sheet);
  void put_children_below(const Sheet& sheet);
  void select(const Sheet& sheet, size_t place);
  void draw_line(const Sheet& sheet, const Scale& scale, std::string_view searched, Grid& grid,
                 unsigned row, size_t place);

  std::vector<std::string_view> columns_;
  std::string_view sorted_by_;
  bool is_inverted_ = false;
  bool keeps_order_ = false;
  std::vector<uint32_t> order_;      // lines of the sheet
  std::vector<uint8_t> depths_;      // beside it
  size_t place_ = 0;                 // in the order
  std::optional<LineKey> followed_;  // once somebody has moved there
  size_t first_ = 0;                 // on screen
  // Of what was drawn last, for the mouse.
  std::vector<Placed> placed_;
  unsigned top_ = 0;
  unsigned height_ = 0;
};

}  // namespace strata::top
