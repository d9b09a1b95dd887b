// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "period/table.h"
#include "top/sheet.h"
#include "trace/text_filter.h"

namespace strata::top {

// Which lines somebody wants to see: a word that stands in one of their texts, in whatever case, or
// a condition on columns, of the lists or of the machine (docs/top.md):
//
//     mysql           user = www-data          proc ~ "my*" and io > 10M
class LineFilter {
 public:
  // Error::offset is the column of `text`, from 0, where it stops making sense.
  static Result<LineFilter> parse(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_word() const { return !condition_; }
  // The first name in it that neither such lists nor machines have.
  std::optional<std::string> unknown_name(const Sheet& sheet) const;
  // Of a list that has no such columns every line matches.
  bool matches(const Sheet& sheet, size_t line, const Scale& scale,
               const period::Machine& machine) const;
  // Whether it holds in this period: for the machine, or any line.
  bool holds(const Sheet& sheet, const Scale& scale, const period::Machine& machine) const;

 private:
  explicit LineFilter(std::string text) : text_(std::move(text)) {}
  bool has_word(const Sheet& sheet, size_t line, const Scale& scale) const;
  bool fulfils(const Sheet& sheet, std::optional<size_t> line, const Scale& scale,
               const period::Machine& machine) const;

  std::string text_;
  std::optional<trace::TextFilter> condition_;
  std::vector<std::string> names_;
};

// Whether one is in the other, in whatever case.
bool contains_word(std::string_view text, std::string_view word);

}  // namespace strata::top
