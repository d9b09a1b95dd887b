// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "format/tracedat/clock_options.h"
#include "format/tracedat/writer.h"
#include "recording/description.h"

namespace strata::recording {

// What the trace.dat files of a host and of its guests say of each other, so that trace-cmd and
// KernelShark put them on one timeline, too: made of what recording.json says, which is more exact.

// For the host's file: a GUEST option for each guest that has one in the folder.
std::vector<tracedat::NewOption> options_of_host(const std::string& folder,
                                                 const Description& description);

// For a guest's: TIME_SHIFT to the clock of the host's file, and how that leads to the time of day,
// in the host's own words. None where the host's kernel is not recorded, or no map leads there.
std::vector<tracedat::NewOption> options_of_guest(const std::string& folder,
                                                  const Description& description,
                                                  const Part& guest);

// Points of a map's lines, near enough to each other for readers that compute with 64 bits.
std::vector<tracedat::ShiftSample> shift_samples(const trace::ClockMap& map);

}  // namespace strata::recording
