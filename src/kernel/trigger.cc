// SPDX-License-Identifier: Apache-2.0
#include "kernel/trigger.h"

#include "kernel/event_trigger.h"
#include "kernel/latency_trigger.h"

namespace strata::kernel {

Result<std::unique_ptr<Trigger>> watch(const Tracefs& tracefs, const TriggerSpec& spec,
                                       const std::vector<uint32_t>& cpus) {
  return spec.is_latency() ? LatencyTrigger::open(tracefs, spec)
                           : EventTrigger::open(tracefs, spec, cpus);
}

}  // namespace strata::kernel
