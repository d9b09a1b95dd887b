// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "query/statement.h"

namespace strata::query {

// The value as text: nothing for NULL, and a blob's bytes in hexadecimal.
std::string value_text(const Statement& statement, size_t column);

// Text of a trace may hold anything: what would do something to a terminal is written as \n or
// \x1b, and so are line ends.
std::string harmless(std::string_view text);

// How many characters of UTF-8 it has.
size_t shown_width(std::string_view text);

}  // namespace strata::query
