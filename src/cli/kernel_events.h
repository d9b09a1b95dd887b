// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace strata::cli {

// `strata events` without a path: this kernel's events, or its profiles. Gives the exit status.
int kernel_events(const EventsArguments& arguments);

}  // namespace strata::cli
