// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace strata::kernel {

// What is watched for: an event, or that it took too long from one event to another.
struct TriggerSpec {
  std::string text;    // as it was said
  std::string event;   // "[SYSTEM:]EVENT"
  std::string filter;  // the kernel's own, or empty
  std::string exit;    // not empty: a latency, from `event` to this one
  Nanoseconds longer_than;

  bool is_latency() const { return !exit.empty(); }
};

//     sched:sched_process_exit
//     sched_switch prev_prio < 100
//     latency(sched_waking, sched_switch) > 50ms
// An error's offset is where in the text it is.
Result<TriggerSpec> parse_trigger(std::string_view text);

}  // namespace strata::kernel
