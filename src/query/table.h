// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/condition.h"

struct sqlite3_context;

namespace strata::query {

// What a column's values are compared as.
enum class ColumnType : uint8_t { Any, Integer, Real, Text };

// Which conditions on a column lead to its rows, so that not all have to be looked at.
enum class Search : uint8_t { None, Equal, Range };

struct Column {
  std::string name;
  ColumnType type = ColumnType::Any;
  std::string about;  // what .schema tells of it
  Search search = Search::None;
  bool hidden = false;  // only for who asks for it: SELECT * does without
};

// Where the value of one column of one row goes. Nothing was put there: NULL.
class Cell {
 public:
  explicit Cell(sqlite3_context* context) : context_(context) {}

  void integer(int64_t value);
  void real(double value);
  void text(std::string_view value);
  // The same for text that stays where it is for as long as the table does.
  void lasting_text(std::string_view value);

 private:
  sqlite3_context* context_;
};

// The rows of a table, one after the other.
class Rows {
 public:
  virtual ~Rows() = default;

  // At the first of the rows that fulfil these conditions. Others may be among them: SQLite looks
  // at each again.
  virtual void begin(const Conditions& conditions) = 0;
  virtual void next() = 0;
  virtual bool at_end() const = 0;

  // Of the row that it is at.
  virtual void column(size_t column, Cell& cell) = 0;
  // A number for it that is the same whatever the conditions. Of tables without a key.
  virtual int64_t number() const { return 0; }

  // Why it is at its end before all rows have come, if it is.
  const std::optional<Error>& failure() const { return failure_; }

 protected:
  std::optional<Error> failure_;
};

// A table as SQL sees it. The glue to SQLite (module.h) is the same for all.
class Table {
 public:
  virtual ~Table() = default;

  // Must not outlive the table. What takes long looks at `interrupted` now and then, and where that
  // is set goes to its end: the statement fails then.
  virtual std::unique_ptr<Rows> open(const std::atomic<bool>& interrupted) const = 0;

  std::string name;
  std::string about;
  std::vector<Column> columns;
  std::vector<size_t> key;          // columns that tell one row from all others; none: its number
  std::optional<size_t> sorted_by;  // rows come in the order of this column
  double about_rows = 100;          // how many there may be, for SQLite to plan with
};

}  // namespace strata::query
