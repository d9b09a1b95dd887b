// SPDX-License-Identifier: Apache-2.0
#include "query/statement.h"

#include <sqlite3.h>

namespace strata::query {

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Result<bool> Statement::next() {
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    case SQLITE_INTERRUPT:
      return Error{"", std::nullopt, "interrupted"};
    default:
      return Error{"", std::nullopt, sqlite3_errmsg(sqlite3_db_handle(statement_.get()))};
  }
}

size_t Statement::columns() const {
  return static_cast<size_t>(sqlite3_column_count(statement_.get()));
}

std::string_view Statement::name(size_t column) const {
  const char* name = sqlite3_column_name(statement_.get(), static_cast<int>(column));
  return name == nullptr ? "" : name;
}

ValueType Statement::type(size_t column) const {
  switch (sqlite3_column_type(statement_.get(), static_cast<int>(column))) {
    case SQLITE_INTEGER:
      return ValueType::Integer;
    case SQLITE_FLOAT:
      return ValueType::Real;
    case SQLITE_TEXT:
      return ValueType::Text;
    case SQLITE_BLOB:
      return ValueType::Blob;
    default:
      return ValueType::Null;
  }
}

int64_t Statement::integer(size_t column) const {
  return sqlite3_column_int64(statement_.get(), static_cast<int>(column));
}

double Statement::real(size_t column) const {
  return sqlite3_column_double(statement_.get(), static_cast<int>(column));
}

std::string_view Statement::text(size_t column) const {
  const auto* text = reinterpret_cast<const char*>(
      sqlite3_column_text(statement_.get(), static_cast<int>(column)));
  if (text == nullptr) return {};
  return {text,
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), static_cast<int>(column)))};
}

std::string_view Statement::blob(size_t column) const {
  const auto* bytes =
      static_cast<const char*>(sqlite3_column_blob(statement_.get(), static_cast<int>(column)));
  if (bytes == nullptr) return {};
  return {bytes,
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), static_cast<int>(column)))};
}

}  // namespace strata::query
