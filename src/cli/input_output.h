// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "base/text_buffer.h"
#include "cli/terminal.h"
#include "state/pass.h"

namespace strata::cli {

// What went through files and sockets, block devices and network interfaces; `most` rows of a
// table.
void put_input_output(const state::Pass& pass, size_t most, const Style& style, TextBuffer& out);
nlohmann::ordered_json input_output_json(const state::Pass& pass);

}  // namespace strata::cli
