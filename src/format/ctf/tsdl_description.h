// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "format/ctf/description.h"
#include "format/ctf/tsdl_syntax.h"

namespace strata::ctf::tsdl {

// What the blocks of a TSDL text say together. Blocks may stand in any order; what is declared
// outside of them is known in all of them. Attributes that are not ours to know are passed over.
// `text_size` bounds what may come out of it.
Result<Description> describe(const Syntax& syntax, size_t text_size, const std::string& path);

}  // namespace strata::ctf::tsdl
