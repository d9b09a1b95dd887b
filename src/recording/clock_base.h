// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trace/trace.h"

namespace strata::recording {

// What to take from an event's time, in nanoseconds, to get a reading of the clock for another
// format. Readings are counts that do not go below zero; what reading 0 means is told apart. Where
// the trace's own clock can be told, its readings stay what they are, and 0 is a machine's boot;
// otherwise it is a whole second before the first event.
int64_t clock_base(const trace::Trace& trace);

}  // namespace strata::recording
