// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3_stmt;

namespace strata::query {

enum class ValueType : uint8_t { Null, Integer, Real, Text, Blob };

// A statement that is being run, row by row: Database::prepare() gives it. Must not outlive the
// database.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  // To the next row; false where there is none.
  Result<bool> next();

  size_t columns() const;
  std::string_view name(size_t column) const;

  // Of the row it is at. Texts are valid until the next one.
  ValueType type(size_t column) const;
  int64_t integer(size_t column) const;
  double real(size_t column) const;
  // Numbers as SQLite writes them.
  std::string_view text(size_t column) const;
  std::string_view blob(size_t column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace strata::query
