// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text_buffer.h"
#include "period/table.h"

namespace strata::period {

// A table as one line of JSON, which `strata stats --period --json` prints, top saves and reads.
//
//     {"begin_ns":..,"end_ns":..,"source":"trace","clock":"..","machines":[
//       {"name":"host", "events":.., "estimated":{"task":["wait_other_ns"]}, "unknown":{..},
//        "cpus":[..], "tasks":[{"pid":..,"tid":..,"start_ns":..,"name":"..","user_ns":..}], ..}]}
//
// A column that is left out is 0, or the machine's "unknown" names it; null: unknown in this row.
void put_json(const Table& table, TextBuffer& out);

// From outside: every number is checked, and no line makes more rows than it has bytes for.
Result<Table> table_from_json(std::string_view line);

// The tables of all lines of a text, in order. What could be read was given before an error, which
// says in which place of `file` it is; it stays there.
class TableLines {
 public:
  // The text must outlive it.
  TableLines(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  // Empty: there are no more.
  Result<std::optional<Table>> next();
  // Where the line of the last table begins.
  uint64_t offset() const { return line_at_; }

 private:
  std::string_view text_;
  std::string file_;
  size_t at_ = 0;
  size_t line_at_ = 0;
};

}  // namespace strata::period
