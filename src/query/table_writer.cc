// SPDX-License-Identifier: Apache-2.0
#include "query/table_writer.h"

#include <algorithm>

#include "query/value_text.h"

namespace strata::query {
namespace {

constexpr size_t kLookedAt = 500;  // rows
// A longer text does not make its column wider: the ones behind it would be out of sight.
constexpr size_t kWidest = 100;

}  // namespace

void TableWriter::begin(const Statement& statement, TextBuffer&) {
  for (size_t i = 0; i < statement.columns(); ++i) {
    headings_.push_back(harmless(statement.name(i)));
    columns_.push_back({shown_width(headings_.back())});
  }
}

void TableWriter::row(const Statement& statement, TextBuffer& out) {
  std::vector<std::string> cells;
  for (size_t i = 0; i < columns_.size(); ++i) {
    cells.push_back(harmless(value_text(statement, i)));
    if (is_shaped_) continue;
    const ValueType type = statement.type(i);
    columns_[i].width = std::max(columns_[i].width, std::min(shown_width(cells[i]), kWidest));
    columns_[i].is_number &= type != ValueType::Text && type != ValueType::Blob;
  }
  if (is_shaped_) return put_line(cells, out);
  kept_.push_back(std::move(cells));
  if (kept_.size() == kLookedAt) put_kept(out);
}

void TableWriter::end(TextBuffer& out) {
  if (!is_shaped_) put_kept(out);
}

void TableWriter::put_kept(TextBuffer& out) {
  is_shaped_ = true;
  if (bold_) out.put(std::string_view("\033[1m"));
  put_line(headings_, out);
  if (bold_) {
    out.truncate(out.size() - 1);
    out.put(std::string_view("\033[0m\n"));
  }
  for (const std::vector<std::string>& cells : kept_) put_line(cells, out);
  kept_.clear();
}

void TableWriter::put_line(const std::vector<std::string>& cells, TextBuffer& out) const {
  size_t blanks = 0;  // before the next cell that is not empty: none at the end of a line
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t width = shown_width(cells[i]);
    const size_t filling = columns_[i].width - std::min(width, columns_[i].width);
    if (i > 0) blanks += 2;
    if (width == 0) {
      blanks += filling;
      continue;
    }
    out.put(blanks + (columns_[i].is_number ? filling : 0), ' ');
    out.put(cells[i]);
    blanks = columns_[i].is_number ? 0 : filling;
  }
  out.put('\n');
}

}  // namespace strata::query
