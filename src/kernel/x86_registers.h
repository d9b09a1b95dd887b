// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::kernel {

// A register of x86-64 by the name that assembly gives to it or to a part of it: "rax", "eax",
// "ah", "r8d".
struct X86Register {
  std::string kernel_name;   // of the whole register, as the kernel's probes call it: "ax", "r8"
  uint8_t bytes = 8;         // of the part
  bool second_byte = false;  // "ah": not the lowest
};

// By the assembler's name, without the percent sign ("ax" is two bytes there, and the kernel's name
// for all of them). None: no such register, or one that a probe cannot see ("xmm0").
std::optional<X86Register> x86_register(std::string_view name);

// Where a function finds its first, second, ... argument (from 1) that is a number or a pointer, by
// the convention of x86-64: the kernel's words, which hold at the function's first instruction
// alone.
std::string x86_argument(unsigned number);

}  // namespace strata::kernel
