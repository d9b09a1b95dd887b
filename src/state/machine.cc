// SPDX-License-Identifier: Apache-2.0
#include "state/machine.h"

#include <algorithm>

namespace strata::state {
namespace {

using trace::TraceInfo;

bool is_guest_of(const TraceInfo& guest, const TraceInfo& host) {
  if (host.trace_id != 0 && guest.host_trace_id == host.trace_id) return true;
  return guest.trace_id != 0 && std::ranges::any_of(host.guests, [&](const auto& told) {
           return told.trace_id == guest.trace_id;
         });
}

bool same_machine(const TraceInfo& a, const TraceInfo& b) {
  if (a.machine != b.machine) return false;
  if (!a.boot.empty() && !b.boot.empty() && a.boot != b.boot) return false;
  return !is_guest_of(a, b) && !is_guest_of(b, a);
}

}  // namespace

std::vector<size_t> machines_of(std::span<const std::unique_ptr<trace::Trace>> traces) {
  std::vector<size_t> machine_of;
  std::vector<const TraceInfo*> machines;  // by the first trace of each
  for (const auto& trace : traces) {
    const auto found = std::ranges::find_if(
        machines, [&](const TraceInfo* known) { return same_machine(*known, trace->info()); });
    machine_of.push_back(static_cast<size_t>(found - machines.begin()));
    if (found == machines.end()) machines.push_back(&trace->info());
  }
  return machine_of;
}

std::vector<std::string> machine_names(std::span<const std::unique_ptr<trace::Trace>> traces,
                                       std::span<const size_t> machine_of) {
  std::vector<std::string> names;
  for (size_t i = 0; i < traces.size(); ++i) {
    if (machine_of[i] != names.size()) continue;  // not its first trace
    const std::string& name = traces[i]->info().machine;
    std::string own = name;
    for (size_t number = 2; std::ranges::find(names, own) != names.end(); ++number)
      own = name + '#' + std::to_string(number);
    names.push_back(std::move(own));
  }
  return names;
}

}  // namespace strata::state
