// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace strata::cli {

// `strata stats --period`: the table of each period, as soon as it has ended; as text for people,
// or as lines of JSON that can be read back. Gives the exit status.
int run_periods(const StatsArguments& arguments);

}  // namespace strata::cli
