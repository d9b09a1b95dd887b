// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/state.h"

namespace strata::probe {

// Puts the counters of the thread that `mask` names (abi::kCounterContexts), 8 bytes each, those
// that cannot be read as abi::kNoCount. A thread's first event opens them, which takes some system
// calls for each; from then on none.
std::byte* put_counters(std::byte* at, uint32_t mask, const Attachment& on);

}  // namespace strata::probe
