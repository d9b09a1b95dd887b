// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "period/columns.h"
#include "state/mode.h"

namespace strata::state {

// Where the table of a period has the time in a state; nowhere that of the dead.
std::optional<period::Column> column_of(TaskState state);
period::Column column_of(Mode mode);
period::Column column_of(VcpuState state);

}  // namespace strata::state
