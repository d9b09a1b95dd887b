// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "ftrace/special_text.h"

namespace strata::ftrace {

// Texts of the function graph tracer's events: ftrace:funcgraph_entry and funcgraph_exit. Null for
// other types, and where a field is missing.
std::unique_ptr<SpecialText> graph_text(const trace::EventType& type, const KernelNames& names);

// True where `next` is the return from the very call that `entry` is: trace-cmd then shows both as
// one line, which print_leaf() gives, and passes over `next`.
bool is_leaf(const trace::Event& entry, const trace::Event& next);
void print_leaf(const trace::Event& entry, const trace::Event& exit, const KernelNames& names,
                TextBuffer& out);

}  // namespace strata::ftrace
