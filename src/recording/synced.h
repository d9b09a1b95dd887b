// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "trace/clock_map.h"

namespace strata::recording {

// What is at a path, of one machine.
struct MachineTraces {
  std::string path;
  std::string machine;  // its name
};

// A new folder that opens as both, with the times of the one brought to those of the other: a
// recording.json with the map, and links to the two, which stay where they are.
Status write_synced(const std::string& folder, const MachineTraces& machine,
                    const MachineTraces& reference, trace::ClockMap map);

}  // namespace strata::recording
