// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "query/table.h"

namespace strata::query {

// The CREATE TABLE that tells SQLite what columns the table has.
std::string declaration(const Table& table);

// The same for people: a line and a comment for each column.
std::string documentation(const Table& table);

}  // namespace strata::query
