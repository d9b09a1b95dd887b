// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "period/feed.h"
#include "period/table.h"

namespace strata::live {

// How far the columns of a table can be believed where these groups are told.
void mark(period::Groups told, period::Marks& marks);

}  // namespace strata::live
