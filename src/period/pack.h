// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "period/table.h"

namespace strata::period {

// A table in few bytes, for this process alone: numbers as varints, texts once, values that are 0
// not at all; times by how far they are from its begin.
std::vector<uint8_t> pack(const Table& table);
// Of bytes that pack() gave for a table that began then.
Table unpack(const std::vector<uint8_t>& bytes, int64_t begin);

}  // namespace strata::period
