// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/output.h"
#include "query/statement.h"

namespace strata::query {

// How the rows of a statement are shown.
enum class RowStyle : uint8_t {
  Table,  // in columns, for people
  Csv,    // as RFC 4180 has it, with a line of names before
  Json,   // an array of objects
  Line,   // "name = value", and an empty line behind each row
};

// Writes rows, one after the other, in one of these ways.
class RowWriter {
 public:
  virtual ~RowWriter() = default;

  // `bold`: headings of tables are to stand out.
  static std::unique_ptr<RowWriter> make(RowStyle style, bool bold);

  virtual void begin(const Statement& statement, TextBuffer& out) = 0;
  virtual void row(const Statement& statement, TextBuffer& out) = 0;
  virtual void end(TextBuffer& out) = 0;
};

// Runs the statement to its end and writes its rows. A reader of `out` that goes away ends it too.
// After an error, what came before it has been written.
Status write_rows(Statement& statement, RowWriter& writer, Output& out);

}  // namespace strata::query
