// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "kernel/instance.h"

namespace strata::record {

// How the recorder stays out of its own recording.
//
// The kernel can leave out all events of a thread but its switches (set_event_notrace_pid), and
// looks at that list at every switch and wake-up of every task: 1 us more on a pipe's round trip,
// a third of what the profile "system" costs. So that is used while the recorder reads what
// explains the events, tens of thousands of calls. Once it merely moves pages it makes very few
// different calls, and the cost of a filter is paid by who makes the same ones.

// Whether our threads, when they merely move pages, cause no event of these but their switches,
// wake-ups and system calls: then filters do. Not so for file systems and memory.
bool filters_suffice(const std::vector<kernel::EventChoice>& events);

// Those of `events` that tell of a call our threads make while they move pages.
std::vector<kernel::EventChoice> own_calls(const std::vector<kernel::EventChoice>& events);

// `filter` with the condition that an event is of none of these threads; it may have that already.
std::string without(const std::vector<pid_t>& threads, const std::string& filter);

}  // namespace strata::record
