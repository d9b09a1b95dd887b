// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/tracefs.h"
#include "trace/event_type.h"

namespace strata::kernel {

// One event of this kernel as its format file describes it, by the name "sched:sched_switch"; or
// "sched_switch" alone, where only one system has it. EventType::id is perf's number for it too.
Result<trace::EventType> find_tracepoint(const Tracefs& tracefs, std::string_view name);

}  // namespace strata::kernel
