// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "query/event_table.h"

namespace strata::query {

// The table `trace`: what was opened. `traces` must outlive these tables.
std::unique_ptr<Table> trace_table(const Traces& traces);

// The table `event_type`: what events there may be in which trace.
std::unique_ptr<Table> event_type_table(const Traces& traces);

// The table `counter`: performance counters, read anew from their traces by every statement. What
// cannot be read goes to `problems`.
std::unique_ptr<Table> counter_table(const Traces& traces, Problems& problems);

}  // namespace strata::query
