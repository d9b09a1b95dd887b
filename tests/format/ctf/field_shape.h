// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "format/ctf/description.h"

namespace strata::ctf {

// A field class as one line, so that a test can say all of it:
//   u32@8            an integer of 32 bits, aligned to 8, little-endian; s32: signed; u32be
//   u32@8 x          ... to be shown in base 16 (o: 8, b: 2)
//   u8@8 enum{a=0,b=1..3,5}
//   u32@8 =Timestamp clock       its role, and that it reads the clock
//   f64@8            text, text[16], text[payload:n], utf-16le text
//   blob[16]         [4]u8@8      [header:n]u8@8
//   {a:u8@8,b:text}@8
//   <header:id>(compact=0..30:{...}|extended=31:{...})
//   ?<payload:is>u8@8
// Of structures the alignment is always said, of strings and BLOBs only where it is not 8, of
// others only where it is not 1.
std::string shape(const FieldClass& type);
std::string shape(const FieldClassPtr& type);  // null: "none"

}  // namespace strata::ctf
