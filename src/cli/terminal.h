// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/output.h"
#include "base/result.h"

namespace strata::cli {

// "strata: trace.dat: at byte 4096: the page says ..." on standard error.
void complain(const Error& error);
void complain(std::string_view text);
void warn(std::string_view text);
// Of a text that somebody wrote, with a mark below the place where it stops making sense
// (Error::offset).
void complain_at(std::string_view what, std::string_view text, const Error& error);

// Headings stand out on a terminal that is not told otherwise ($NO_COLOR, TERM=dumb).
class Style {
 public:
  explicit Style(int descriptor);
  std::string heading(std::string_view text) const;
  std::string alarm(std::string_view text) const;
  bool is_on() const { return on_; }

 private:
  bool on_;
};

// "12.3 MB"
std::string size_text(uint64_t bytes);

// Columns as wide as what is in them; the first is aligned to the left and the others to the right,
// unless told otherwise.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : left_(headings.size(), false) {
    left_[0] = true;
    rows_.push_back(std::move(headings));
  }
  void align_left(size_t column) { left_[column] = true; }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == 1; }
  // Columns without anything below their heading are left out.
  void put(const Style& style, size_t indent, TextBuffer& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> left_;
};

}  // namespace strata::cli
