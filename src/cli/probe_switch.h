// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/arguments.h"

namespace strata::cli {

// strata probe enable: the sites are on until a signal, or until the process has ended.
int enable_probes(const ProbeArguments& arguments);
// strata probe disable.
int disable_probes(const ProbeArguments& arguments);

}  // namespace strata::cli
