// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "top/grid.h"

namespace strata::top {

// All keys, from this row on: in one column, or two where there is room.
void draw_help(Grid& grid, unsigned top);

}  // namespace strata::top
