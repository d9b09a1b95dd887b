// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/time_text.h"
#include "cli/traces.h"

namespace strata::cli {

// What a time that somebody gave means for these traces. False: nothing, which was told.
bool resolve(const char* option, const std::string& text, const Traces& traces, Side side,
             std::optional<Nanoseconds>& out);

// --begin and --end.
bool resolve_period(const std::string& begin, const std::string& end, const Traces& traces,
                    std::optional<Nanoseconds>& from, std::optional<Nanoseconds>& to);

}  // namespace strata::cli
