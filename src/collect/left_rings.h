// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/file_descriptor.h"
#include "collect/traced_process.h"

namespace strata::collect {

// A memory that a running program has, and who runs it.
struct LeftRings {
  TracedProcess process;
  FileDescriptor memory;  // an open file of its own; nothing is checked but its name
};

// Those of all programs that this user may trace: for a collector that takes over from one that was
// killed. Found by the descriptor that the library keeps; a program that has closed it, as daemons
// do that were started with their probes on, is not found.
std::vector<LeftRings> find_left_rings();

}  // namespace strata::collect
