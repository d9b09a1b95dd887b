// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ftrace/print_format.h"

namespace strata::ftrace {

// What a constant expression comes down to, as a text: an atom is its own, an operation its result
// in decimal. Nothing where it is not constant, or uses an operator that constants may not.
std::optional<std::string> constant_text(const Expression& e);

// The value of a choice of __print_flags or __print_symbolic, from the text it comes down to. What
// is neither a positive number nor a name that is known is -1: negative numbers, too.
int64_t choice_value(std::string_view text);

}  // namespace strata::ftrace
