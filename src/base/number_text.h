// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace strata {

// "8,961,482"
std::string grouped(uint64_t number);

}  // namespace strata
