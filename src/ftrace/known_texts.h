// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "ftrace/text_program.h"
#include "trace/event.h"

namespace strata::ftrace {

// Texts that trace-cmd gives some events instead of their print format's, or before it. Most of
// them can be said as a print format, and then are one: as fast as any other.
struct KnownText {
  std::vector<TextProgram> programs;  // run one after the other
};

// The known text of `type` that programs can give; nothing where there is none, or where the type
// lacks a field that the text needs.
std::optional<KnownText> known_text(const trace::EventType& type, const KernelNames& names);

}  // namespace strata::ftrace
