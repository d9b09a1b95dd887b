// SPDX-License-Identifier: Apache-2.0
#include "record/program_parts.h"

namespace strata::record {

std::vector<recording::Part> program_parts(const std::vector<collect::ProgramTraces::Told>& traces,
                                           const std::string& clock, bool finished) {
  std::vector<recording::Part> parts;
  for (const collect::ProgramTraces::Told& trace : traces)
    parts.push_back({.file = trace.folder,
                     .kind = "ctf",
                     .what = "application",
                     .machine = "",
                     .clock = clock,
                     .lost = trace.totals.lost,
                     .lost_unknown = trace.totals.lost_unknown,
                     .finished = finished});
  return parts;
}

}  // namespace strata::record
