// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "trace/event_type.h"

namespace strata::recording {

// What LTTng 2.13 calls an event of the kernel's own tracer: "irq_softirq_entry" for irq's
// softirq_entry. What LTTng does not have keeps its name.
std::string lttng_name(const trace::EventType& type);

// And one of its fields: "prev_tid" for "prev_pid". What the kernel's tracer calls a pid is a
// thread's; in LTTng, pid is the process's.
std::string lttng_field_name(const trace::EventType& type, std::string_view field);

// The flags of a block request, which the kernel's tracer shows as letters ("WFS"), as LTTng's
// number.
uint32_t lttng_rwbs(std::string_view letters);

}  // namespace strata::recording
