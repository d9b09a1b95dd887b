// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "period/table.h"
#include "top/grid.h"
#include "top/moment.h"

namespace strata::top {

// What there was in the period before, to tell what has changed.
struct Population {
  uint64_t processes = 0;
  uint64_t threads = 0;
};

// The top of the screen, whatever is below: the period, CPUs and load, how much there is of
// everything, what was lost, what the tracing costs. Gives the rows that it took.
unsigned draw_header(const period::Table& table, const period::Machine& machine,
                     const Moment& moment, const std::optional<Population>& before, Grid& grid);

// "2026-11-19 14:30:05.000000000", or the seconds of a clock that is none of the day.
std::string time_text(int64_t ns, const std::string& clock);

}  // namespace strata::top
