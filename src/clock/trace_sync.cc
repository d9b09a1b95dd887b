// SPDX-License-Identifier: Apache-2.0
#include "clock/trace_sync.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "clock/segment_matches.h"
#include "clock/vm_windows.h"

namespace strata::clock {
namespace {

using Traces = std::span<const std::unique_ptr<trace::Trace>>;

Result<TraceSync> sync_guest(Traces host_traces, Traces guest_traces, Towards towards,
                             std::vector<Error>& problems) {
  const HostWindows host = read_host(host_traces);
  const GuestMoments guest = read_guest(guest_traces);
  for (const auto* some : {&host.problems, &guest.problems})
    std::ranges::copy(*some, std::back_inserter(problems));
  Result<WindowFit> fit = match_windows(host, guest, towards);
  if (!fit) return std::move(fit).error();
  return TraceSync{TraceSync::By::GuestWindows, fit->pairs, std::move(fit->stretches)};
}

}  // namespace

Result<TraceSync> sync_traces(Traces machine, Traces reference, std::vector<Error>& problems) {
  if (tells_segments(machine) && tells_segments(reference)) {
    Matched matched = match_segments(machine, reference);
    std::ranges::move(matched.problems, std::back_inserter(problems));
    Result<std::vector<Stretch>> stretches = matched.fit.finish();
    if (!stretches) return std::move(stretches).error();
    return TraceSync{TraceSync::By::TcpSegments, matched.fit.pairs(), *std::move(stretches)};
  }
  if (tells_windows(reference)) return sync_guest(reference, machine, Towards::Host, problems);
  if (tells_windows(machine)) return sync_guest(machine, reference, Towards::Guest, problems);
  const Traces without = tells_segments(machine) ? reference : machine;
  return Error{without.empty() ? "" : without.front()->info().path, std::nullopt,
               "has no events that tell TCP segments, as LTTng's of packets do, nor is one of the "
               "two a host that tells of its guest's entries and exits"};
}

}  // namespace strata::clock
