// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "history/file.h"

namespace strata::history {

// All footers of a file, the last first. One that still grows, or was cut, ends with its last whole
// checkpoint: what lies behind that is not looked at.
//
// `magic` and `version`: of the kind of file it should be; `source`: what it should have been made
// from.
Result<std::vector<Footer>> read_footers(const MappedFile& file, uint64_t magic, uint32_t version,
                                         uint64_t source);

}  // namespace strata::history
