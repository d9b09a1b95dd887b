// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.h"

#include <algorithm>

namespace strata::trace {

void Trace::widen(std::optional<Span>& all, const Span& part) {
  if (!all) all = part;
  all->begin = std::min(all->begin, part.begin);
  all->end = std::max(all->end, part.end);
}

void Trace::follow_clock(ClockMap, const TraceInfo& reference) {
  info_.clock = reference.clock;
  info_.in_nanoseconds = reference.in_nanoseconds;
  info_.since_epoch = reference.since_epoch;
}

std::string time_base(std::span<const std::unique_ptr<Trace>> traces) {
  std::string base;
  for (const auto& trace : traces) {
    const TraceInfo& info = trace->info();
    const std::string own = info.since_epoch ? "epoch" : info.clock.name;
    if (!base.empty() && base != own) return "mixed";
    base = own;
  }
  return base;
}

bool Trace::events_tell_cpus() const {
  return std::ranges::any_of(event_types(), [](const EventType* type) {
    const Field* field = type->find("cpu_id");
    return field != nullptr &&
           static_cast<size_t>(field - type->fields.data()) < type->common_fields;
  });
}

void Trace::print_packet(const Event& event, TextBuffer& out) const {
  out.put(std::string_view("{ cpu_id = "));
  out.put_decimal(uint64_t{raw(event.cpu)});
  out.put(std::string_view(" }"));
}

void Trace::print_compound(const Event&, const Field&, TextBuffer& out) const {
  out.put(std::string_view("null"));
}

}  // namespace strata::trace
