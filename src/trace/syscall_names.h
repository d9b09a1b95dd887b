// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::trace {

// The name of a system call by its number on a machine ("x86_64", as uname says it): "openat".
// Empty where there is no such call, or the machine's numbers are not known here.
std::string_view syscall_name(std::string_view machine, uint64_t number);

}  // namespace strata::trace
