// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "ftrace/special_text.h"

namespace strata::ftrace {

// The text of syscalls:sys_enter_futex, whose arguments mean something else for each operation.
// Null for other types, and where a field is missing; `own` is the type's print format, for
// operations that are not known.
std::unique_ptr<SpecialText> futex_text(const trace::EventType& type, const KernelNames& names,
                                        TextProgram own);

}  // namespace strata::ftrace
