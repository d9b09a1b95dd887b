// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/text_buffer.h"
#include "cli/traces.h"
#include "state/pass.h"

namespace strata::cli {

// What commands that ask what traces mean have in common: opens the traces, takes all events
// through the state engines, lets `put` write what it found, and tells what could not be read.
// Gives the exit status. `prepare` may narrow the pass; false: wrong usage, which was told.
int ask(const std::vector<std::string>& paths,
        const std::function<bool(const Traces&, state::Pass&)>& prepare,
        const std::function<void(const state::Pass&, TextBuffer&)>& put);

}  // namespace strata::cli
