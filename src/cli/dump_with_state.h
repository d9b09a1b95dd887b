// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/output.h"
#include "cli/dump_events.h"

namespace strata::cli {

// As dump_events(), with what the state engine knows at each event: in which process, mode and
// virtual machine it happened. All events before are read, too: they tell.
std::vector<Error> dump_with_state(const Traces& traces, trace::Selection& selection,
                                   const DumpWishes& wishes, const std::vector<StatePart>& parts,
                                   bool on_terminal, Output& out);

}  // namespace strata::cli
