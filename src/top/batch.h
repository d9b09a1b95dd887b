// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/result.h"
#include "top/board.h"
#include "top/console.h"
#include "top/timeline.h"

namespace strata::top {

enum class BatchStyle : uint8_t {
  Text,  // each screen as it would be drawn, with all lines, without colours
  Json,  // a line for each period (period/json.h)
};

// For programs and files instead of people: prints every period to standard output; of a recording
// as fast as it can be read. An error of the feed comes behind what could be read.
Status run_batch(Timeline& timeline, Board& board, const std::vector<Screen>& screens,
                 BatchStyle style, const Pace& pace, unsigned width);

}  // namespace strata::top
