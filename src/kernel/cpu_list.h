// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strata::kernel {

// CPUs as the kernel lists them, "0-3,8,10-11", in order. Nothing where that is no list.
std::optional<std::vector<uint32_t>> parse_cpu_list(std::string_view text);

// Those that run now.
Result<std::vector<uint32_t>> online_cpus();

}  // namespace strata::kernel
