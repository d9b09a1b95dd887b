// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace strata {

// Of all files in a folder and below, in bytes. What goes away meanwhile does not count.
uint64_t folder_size(const std::string& path);

}  // namespace strata
