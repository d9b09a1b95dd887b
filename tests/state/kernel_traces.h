// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::state {

// Those of the corpus that tell what a machine's tasks did.
inline constexpr const char* kKernelTraces[] = {
    "ctf/lttng-ref-traces/basic-kernel-analysis",
    "ctf/lttng-ref-traces/picotrace",
    "ctf/tracecompass/synctraces/scp_src",
    "ctf/tracecompass/synctraces/scp_dest",
    "ctf/tracecompass/perf-taskset2",
    "ctf/nested-kvm/host",
    "ctf/nested-kvm/guest",
    "dat/lisa_sched_load.dat",
    "dat/trappy_trace.dat",
    "dat/trace2.dat",
    "dat/pair-host.dat",
    "dat/pair-guest.dat",
};

}  // namespace strata::state
