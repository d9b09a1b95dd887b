// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/state.h"

namespace strata::probe {

// Puts the contexts that `mask` names, abi::context_size(mask) bytes. `rseq`: the thread's, or
// null. The thread's number, its CPU and its counters take no system call, but for its first event;
// its name, which may change at any time, takes one.
void put_contexts(std::byte* at, uint32_t mask, const Attachment& on, const std::byte* rseq);

}  // namespace strata::probe
