// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace strata::cli {

// "16M", "500k", "1G": bytes.
Result<uint64_t> parse_size(const std::string& text);

}  // namespace strata::cli
