// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "live/bpf/layout.h"

namespace strata::live {

// The name of a system call of this machine; the number where it has none.
std::string call_name(uint32_t number);

// What system calls mean, by their numbers: for tasks that sleep in them the same as the state
// engine has it of traces, whose definitions these are.
void put_meanings(std::span<CallMeaning> meanings);

}  // namespace strata::live
