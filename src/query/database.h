// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time_text.h"
#include "query/event_table.h"
#include "query/machines.h"
#include "query/problems.h"
#include "query/statement.h"

struct sqlite3;

namespace strata::query {

// Traces as tables that SQL can be asked about (docs/query.md). The tables are read from the traces
// as a statement needs them; SQLite stores none of it. Nothing can be written.
//
// SQL also has a function at('+2s'): the nanoseconds of a time as the command line says it.
class Database {
 public:
  // `frame`: what times in words are said against, found when one is. `traces` must outlive it.
  static Result<std::unique_ptr<Database>> open(const Traces& traces,
                                                std::function<TimeFrame()> frame);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // The statement at `position` of `sql`, which then is behind it. Nothing where there are only
  // blanks and comments. Error::offset is the place in `sql`, where that is known.
  Result<std::optional<Statement>> prepare(std::string_view sql, size_t& position);

  // Whether the text ends a statement with a semicolon, or is one that goes on.
  static bool is_whole(const std::string& text);

  // Ends the statement that is running. May be called by a signal handler.
  void interrupt();

  // Tells how far it is while the states of all that is in the traces are found, which takes a pass
  // over them where it was not done before.
  void set_progress(trace::ProgressCallback progress) { machines_.progress = std::move(progress); }

  // What could not be read of the traces since it was last asked.
  std::vector<Error> take_problems() { return problems_.take(); }

  const std::vector<std::unique_ptr<Table>>& tables() const { return tables_; }
  // Names of fields for which SQLite has no column left: there are too many.
  const std::vector<std::string>& fields_without_column() const { return fields_without_column_; }

 private:
  explicit Database(const Traces& traces) : machines_(traces, problems_) {}
  // What may have been meant where a name is not known: a table, or a column of those named.
  std::string hint(std::string_view message, std::string_view sql) const;

  sqlite3* sqlite_ = nullptr;
  std::atomic<bool> interrupted_{false};
  Problems problems_;
  Machines machines_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<std::string> fields_without_column_;
};

}  // namespace strata::query
