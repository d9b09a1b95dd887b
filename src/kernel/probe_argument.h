// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strata::kernel {

// A value that the kernel takes when a probe is hit: a field of the probe's event.
struct ProbeArgument {
  std::string name;
  std::string fetch;  // in the kernel's words: "%di", "+8(%si)", "$retval", "\5"
  std::string type;   // "u64", "s32", "x8", "string", ...

  std::string text() const { return name + "=" + fetch + ":" + type; }
  bool operator==(const ProbeArgument&) const = default;
};

// Where a probe is, as far as it decides what it can see.
struct ProbeView {
  bool in_kernel = false;
  bool at_return = false;
  bool at_entry = true;  // at a function's first instruction
};

// What the user wants to see, as a list with blanks or commas between:
//
//     [NAME=]VALUE[:TYPE]
//
//     VALUE   arg1, arg2, ...   the function's arguments (integers and pointers)
//             retval            what it returns; only where the probe is at its return
//             comm              the name of the task
//             %rdi, %esi, ...   a register
//             +8(VALUE)         the memory at this distance from where VALUE points, -8 before it
//             $stack, $stackN   the stack's address, its Nth word
//             @ADDRESS, @+OFFSET, @SYMBOL   memory: at an address; of the probed file; of the
//             kernel \NUMBER           a constant
//     TYPE    u8 u16 u32 u64, s8 ... (signed), x8 ... (hexadecimal), char, string,
//             bWIDTH@OFFSET/SIZE (bits of a word), with [N] behind it an array of memory
//
// Without a type it is x64, or as wide as the register that is named; `string` of a pointer is what
// it points to. Without a name it is called what it is. Error::offset is the column, from 0.
Result<std::vector<ProbeArgument>> parse_probe_arguments(std::string_view text,
                                                         const ProbeView& view);

// Whether it can be the name of an event or a field: letters, digits and '_', no digit in front.
bool is_identifier(std::string_view text);
// The same with '_' for what cannot be in one.
std::string as_identifier(std::string_view text);

}  // namespace strata::kernel
