// SPDX-License-Identifier: Apache-2.0
#include "query/row_writer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "query/table_writer.h"
#include "query/value_text.h"
#include "trace/field_text.h"

namespace strata::query {
namespace {

class CsvWriter : public RowWriter {
 public:
  void begin(const Statement& statement, TextBuffer& out) override {
    for (size_t i = 0; i < statement.columns(); ++i) put(i, statement.name(i), out);
    out.put('\n');
  }
  void row(const Statement& statement, TextBuffer& out) override {
    const size_t before = out.size();
    for (size_t i = 0; i < statement.columns(); ++i) put(i, value_text(statement, i), out);
    // An empty line would be taken for none.
    if (out.size() == before) out.put(std::string_view("\"\""));
    out.put('\n');
  }
  void end(TextBuffer&) override {}

 private:
  static void put(size_t column, std::string_view value, TextBuffer& out) {
    if (column > 0) out.put(',');
    if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
      out.put(value);
      return;
    }
    out.put('"');
    for (const char c : value) {
      if (c == '"') out.put('"');
      out.put(c);
    }
    out.put('"');
  }
};

class JsonWriter : public RowWriter {
 public:
  void begin(const Statement& statement, TextBuffer& out) override {
    for (size_t i = 0; i < statement.columns(); ++i) {
      TextBuffer key;
      trace::put_json_string(statement.name(i), key);
      keys_.push_back((i == 0 ? "{" : ",") + std::string(key.view()) + ":");
    }
    out.put('[');
  }
  void row(const Statement& statement, TextBuffer& out) override {
    if (!std::exchange(is_first_, false)) out.put(std::string_view(",\n"));
    for (size_t i = 0; i < keys_.size(); ++i) {
      out.put(keys_[i]);
      put_value(statement, i, out);
    }
    out.put('}');
  }
  void end(TextBuffer& out) override { out.put(std::string_view("]\n")); }

 private:
  static void put_value(const Statement& statement, size_t column, TextBuffer& out) {
    switch (statement.type(column)) {
      case ValueType::Null:
        return out.put(std::string_view("null"));
      case ValueType::Integer:
        return out.put_decimal(statement.integer(column));
      case ValueType::Real:
        // JSON has no infinities.
        return out.put(std::isfinite(statement.real(column)) ? statement.text(column) : "null");
      case ValueType::Text:
      case ValueType::Blob:
        return trace::put_json_string(value_text(statement, column), out);
    }
  }

  std::vector<std::string> keys_;
  bool is_first_ = true;
};

class LineWriter : public RowWriter {
 public:
  void begin(const Statement& statement, TextBuffer&) override {
    for (size_t i = 0; i < statement.columns(); ++i)
      width_ = std::max(width_, shown_width(statement.name(i)));
  }
  void row(const Statement& statement, TextBuffer& out) override {
    for (size_t i = 0; i < statement.columns(); ++i) {
      out.put(width_ - shown_width(statement.name(i)), ' ');
      out.put(statement.name(i));
      out.put(std::string_view(" = "));
      out.put(harmless(value_text(statement, i)));
      out.put('\n');
    }
    out.put('\n');
  }
  void end(TextBuffer&) override {}

 private:
  size_t width_ = 0;
};

}  // namespace

std::unique_ptr<RowWriter> RowWriter::make(RowStyle style, bool bold) {
  switch (style) {
    case RowStyle::Csv:
      return std::make_unique<CsvWriter>();
    case RowStyle::Json:
      return std::make_unique<JsonWriter>();
    case RowStyle::Line:
      return std::make_unique<LineWriter>();
    case RowStyle::Table:
      break;
  }
  return std::make_unique<TableWriter>(bold);
}

Status write_rows(Statement& statement, RowWriter& writer, Output& out) {
  if (statement.columns() == 0) return {};
  writer.begin(statement, out.text());
  Status status;
  for (;;) {
    Result<bool> more = statement.next();
    if (!more) status = std::move(more).error();
    if (!more || !*more) break;
    writer.row(statement, out.text());
    if (!out.drain()) break;
  }
  writer.end(out.text());
  return status;
}

}  // namespace strata::query
