// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ftrace/text_program.h"

namespace strata::ftrace {

// Reads a conversion the way printf does: flags, width, precision, size, letter. `text` begins
// behind the '%' and ends with the letter. False where its parts are out of order or repeated.
bool read_conversion(std::string_view text, Conversion& conversion);

// How many characters write_integer() writes at most. `star` is the number of the conversion's `*`;
// a negative one counts as none.
size_t integer_room(const Conversion& conversion, int32_t star);

// Writes `value` as printf would, cut to the conversion's size.
char* write_integer(char* out, const Conversion& conversion, uint64_t value, int32_t star);

}  // namespace strata::ftrace
