// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "live/bpf/vcpus.h"

namespace strata::live {

// What the programs take for the guest having nothing to do, as the state engine does.
void put_halts(HaltReasons& reasons);

// The reason at this place in VcpuSlot::exits, in its maker's words.
std::string exit_reason(uint32_t isa, uint32_t place);

}  // namespace strata::live
