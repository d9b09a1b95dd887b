// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
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

// All lines of a text, in order; `take` gives false for enough. What could be read was taken before
// an error, which says in which place of `file` it is.
Status read_tables(std::string_view text, const std::string& file,
                   const std::function<bool(Table&&)>& take);

}  // namespace strata::period
