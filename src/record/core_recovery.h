// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace strata::record {

struct RecoveredCore {
  uint64_t events = 0;
  uint64_t lost = 0;
};

// Makes a recording of what the rings in a program's core file hold: what the program told by its
// probes and no collector had taken. Times of day are right on the machine that wrote the core, as
// long as it was not started anew; their order is, everywhere.
Result<RecoveredCore> recover_core(const std::string& core, const std::string& folder);

}  // namespace strata::record
