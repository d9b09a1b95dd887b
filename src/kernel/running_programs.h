// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/glob.h"

namespace strata::kernel {

// The files that processes with a matching program name (the file's, "qemu-system-*") run from,
// each once: their paths, or, where the file is gone since or lies in a container, what /proc has
// for it.
std::vector<std::string> running_programs(const std::vector<Glob>& names);

}  // namespace strata::kernel
