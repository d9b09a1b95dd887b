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
// a third of what the profile "system" costs. And the list cannot be taken away while events are
// recorded: for a moment the kernel then drops those of whatever runs on the recorder's CPU, and
// counts them nowhere.
//
// So where it can be done, filters leave the recorder out. They cost only the events that have
// them. While the recorder reads what explains the events, tens of thousands of calls, all system
// calls and exceptions have one. Once it merely moves pages it makes very few different calls, and
// only those do.

// Whether filters do for these events: our threads, when they merely move pages and sample
// cgroups, cause no event of theirs but switches, wake-ups and system calls, which is not so for
// file systems and memory; and nobody else has a filter in their way.
bool filters_suffice(const std::vector<kernel::EventChoice>& events);

// Whose events our threads cause when they do more than that.
inline constexpr const char* kBusySystems[] = {"syscalls", "exceptions"};

// Those of `events` that tell of a call our threads make while they move pages.
std::vector<kernel::EventChoice> own_calls(const std::vector<kernel::EventChoice>& events);

// The filter that lets pass what is of none of these threads.
std::string none_of(std::vector<pid_t> threads);

}  // namespace strata::record
