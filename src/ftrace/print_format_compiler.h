// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "ftrace/print_format.h"
#include "ftrace/text_program.h"

namespace strata::ftrace {

// Turns a parsed print format into the program that gives its text. Errors are formats that
// libtraceevent would refuse as well (arguments that do not match their conversions), or that are
// larger than anything a kernel has.
Result<TextProgram> compile(const PrintFormat& format, const trace::EventType& type,
                            const KernelNames& names);

// How libtraceevent looks at a field, which decides how it is shown. It goes by the words of the
// field's type.
struct FieldNature {
  bool array = false;
  bool text = false;  // an array of characters or of bytes
  bool pointer = false;
  bool of_long = false;  // "long" is among its words
  uint32_t element_size = 0;
};
FieldNature nature_of(const trace::Field& field, Target target);

}  // namespace strata::ftrace
