// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "collect/program_trace.h"
#include "recording/description.h"

namespace strata::record {

// The traces of programs as recording.json tells of them. The machine is not told yet.
std::vector<recording::Part> program_parts(const std::vector<collect::ProgramTraces::Told>& traces,
                                           const std::string& clock, bool finished);

}  // namespace strata::record
