// SPDX-License-Identifier: Apache-2.0
#include "recording/kernel_description.h"

#include <algorithm>

#include "recording/clock_base.h"

namespace strata::recording {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

ctf::Uuid identity_of(const trace::TraceInfo& info) {
  // Names that many machines have are nobody's.
  const bool is_own =
      !info.machine.empty() && info.machine != "(none)" && info.machine != "localhost";
  return ctf::uuid_of_name("machine " + (is_own ? info.machine : info.machine + " " + info.path));
}

}  // namespace

KernelDescription::KernelDescription(const trace::Trace& source, const ToCtfOptions& options)
    : machine(source.info().processor), base(clock_base(source)) {
  const trace::TraceInfo& info = source.info();
  trace.clock.uuid = options.machine.value_or(identity_of(info));
  trace.clock.description = "the kernel's trace clock " + info.clock.name;
  if (base >= 0) {
    trace.clock.offset_cycles = static_cast<uint64_t>(base);
  } else {
    trace.clock.offset_seconds = base / kSecond;  // whole seconds: see clock_base()
  }
  // Names and versions by which Trace Compass knows LTTng's kernel traces and their layout.
  trace.environment = {{"hostname", info.machine},
                       {"domain", "kernel"},
                       {"sysname", "Linux"},
                       {"kernel_release", info.kernel},
                       {"tracer_name", "lttng-modules"},
                       {"tracer_major", 2},
                       {"tracer_minor", 13},
                       {"tracer_patchlevel", 0},
                       {"trace_buffering_scheme", "global"},
                       {"converted_by", "strata"},
                       {"converted_from", info.kind},
                       {"recorded_by", info.tracer}};
  if (!machine.empty()) trace.environment.emplace_back("architecture", machine);
}

}  // namespace strata::recording
