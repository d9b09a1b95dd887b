// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "query/row_writer.h"

namespace strata::query {

// Rows in columns as wide as what is in the first few hundred of them. What is wider, further on,
// stands out of its column: rows are shown as they come, however many there are.
class TableWriter : public RowWriter {
 public:
  explicit TableWriter(bool bold) : bold_(bold) {}

  void begin(const Statement& statement, TextBuffer& out) override;
  void row(const Statement& statement, TextBuffer& out) override;
  void end(TextBuffer& out) override;

 private:
  struct ColumnShape {
    size_t width = 0;
    bool is_number = true;  // so far: aligned to the right
  };

  void put_kept(TextBuffer& out);
  void put_line(const std::vector<std::string>& cells, TextBuffer& out) const;

  const bool bold_;
  std::vector<ColumnShape> columns_;
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> kept_;
  bool is_shaped_ = false;
};

}  // namespace strata::query
