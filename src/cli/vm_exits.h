// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "base/text_buffer.h"
#include "cli/terminal.h"
#include "state/pass.h"

namespace strata::cli {

// Why virtual CPUs left their guests, how long the host's kernel and the program that emulates the
// machine then took, and what else is counted of them.
void put_vm_exits(const state::Pass& pass, const Style& style, TextBuffer& out);
nlohmann::ordered_json vm_exits_json(const state::Pass& pass);

}  // namespace strata::cli
