// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "query/table.h"

struct sqlite3;

namespace strata::query {

// Makes `table` known to SQLite by its name. A statement that reads it ends as interrupted once
// `interrupted` is set. Both must outlive `database`. Gives SQLite's result code.
int add_table(sqlite3* database, const Table& table, const std::atomic<bool>& interrupted);

}  // namespace strata::query
