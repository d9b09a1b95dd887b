// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "query/database.h"
#include "query/row_writer.h"

namespace strata::cli {

// What `strata query` is asked, statement by statement: SQL, and commands that begin with a dot.
class QueryShell {
 public:
  QueryShell(query::Database& database, query::RowStyle style);

  // One command, or all statements of `text`, whose rows go to standard output. What is wrong is
  // told. Gives the exit status; the statements behind one that fails are not run.
  int run(const std::string& text);
  bool was_told_to_quit() const { return quits_; }

  static bool is_command(std::string_view text);

 private:
  int run_statements(const std::string& sql, Output& out);
  int run_command(std::string_view text, TextBuffer& out);
  int show_schema(std::string_view table, TextBuffer& out);
  int set_style(std::string_view name);
  void show_tables(TextBuffer& out) const;

  query::Database& database_;
  query::RowStyle style_;
  bool quits_ = false;
};

}  // namespace strata::cli
