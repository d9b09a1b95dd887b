// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/probe_argument.h"

namespace strata::kernel {

// The arguments of a USDT probe at one of its sites.
struct UsdtArguments {
  // arg1, arg2, ...: by their place, also where one before them was left out.
  std::vector<ProbeArgument> arguments;
  // Those that the kernel cannot take, with the reason: "arg2 (%xmm0): a floating-point register".
  std::vector<std::string> left_out;
};

// Where a variable of the probed file is, as the kernel counts it in "@+OFFSET" of a probe; none
// where the file has no such name.
using VariableOffset = std::function<std::optional<uint64_t>(std::string_view name)>;

// From the note of a site in x86-64 code, "-4@%eax 8@-24(%rbp) 4@$5": the size in bytes, with '-'
// of a signed number, and the operand in the assembler's words, which the compiler chose.
UsdtArguments decode_usdt_arguments(std::string_view text, const VariableOffset& variable);

}  // namespace strata::kernel
