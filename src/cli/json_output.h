// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "base/text_buffer.h"

namespace strata::cli {

// As every command gives its one object: indented; bytes that are no UTF-8 are replaced.
inline void put_json_object(const nlohmann::ordered_json& json, TextBuffer& out) {
  out.put(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  out.put('\n');
}

}  // namespace strata::cli
