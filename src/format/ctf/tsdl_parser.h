// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "format/ctf/tsdl_syntax.h"

namespace strata::ctf::tsdl {

// Fails at the first thing that the grammar has no place for; `path` is for the error alone.
Result<Syntax> parse(std::string_view text, const std::string& path);

}  // namespace strata::ctf::tsdl
