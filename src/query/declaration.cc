// SPDX-License-Identifier: Apache-2.0
#include "query/declaration.h"

#include <sqlite3.h>

#include <algorithm>

namespace strata::query {
namespace {

// Comments are aligned, but for columns with longer names than this.
constexpr size_t kWidest = 40;

// Names come from traces and may hold anything.
std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

// Without quotes where SQL does without.
std::string readable(std::string_view name) {
  const bool is_plain =
      !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
      });
  if (is_plain && sqlite3_keyword_check(name.data(), static_cast<int>(name.size())) == 0)
    return std::string(name);
  return quoted(name);
}

std::string_view type_text(ColumnType type) {
  switch (type) {
    case ColumnType::Integer:
      return " INTEGER";
    case ColumnType::Real:
      return " REAL";
    case ColumnType::Text:
      return " TEXT";
    case ColumnType::Any:
      break;
  }
  return "";
}

// "next_pid INTEGER HIDDEN", and the key behind the columns.
std::vector<std::string> parts(const Table& table, std::string (*name)(std::string_view)) {
  std::vector<std::string> all;
  for (const Column& column : table.columns)
    all.push_back(name(column.name) + std::string(type_text(column.type)) +
                  (column.hidden ? " HIDDEN" : ""));
  if (table.key.empty()) return all;
  std::string key;
  for (const size_t column : table.key)
    key += (key.empty() ? "" : ", ") + name(table.columns[column].name);
  all.push_back("PRIMARY KEY (" + key + ")");
  return all;
}

std::string end(const Table& table) { return table.key.empty() ? ")" : ") WITHOUT ROWID"; }

}  // namespace

std::string declaration(const Table& table) {
  std::string text = "CREATE TABLE " + quoted(table.name) + "(";
  const std::vector<std::string> all = parts(table, quoted);
  for (size_t i = 0; i < all.size(); ++i) text += (i == 0 ? "" : ", ") + all[i];
  return text + end(table);
}

std::string documentation(const Table& table) {
  std::string text = "-- " + table.about + "\nCREATE TABLE " + readable(table.name) + "(\n";
  std::vector<std::string> all = parts(table, readable);
  size_t width = 0;
  for (const std::string& part : all) width = std::max(width, std::min(part.size() + 1, kWidest));
  for (size_t i = 0; i < all.size(); ++i) {
    std::string& line = all[i];
    if (i + 1 < all.size()) line += ',';
    if (i < table.columns.size()) {
      line.resize(std::max(line.size(), width), ' ');
      line += "  -- " + table.columns[i].about;
    }
    text += "  " + line + "\n";
  }
  return text + end(table) + ";\n";
}

}  // namespace strata::query
