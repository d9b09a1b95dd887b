// SPDX-License-Identifier: Apache-2.0
#include "trace/samples.h"

#include <algorithm>

namespace strata::trace {
namespace {

constexpr std::string_view kReading = "counters_";  // of which event, comes behind it

// As perf calls it, where the field has the name as an identifier.
std::string counter_name(std::string_view field) {
  std::string name(field);
  std::ranges::replace(name, '_', '-');
  return name;
}

}  // namespace

std::optional<CounterReading> counter_reading(const TraceInfo& trace, const EventType& type) {
  if (!type.system.empty() || !type.name.starts_with(kReading)) return std::nullopt;
  const auto property = std::ranges::find(trace.properties, kCountersProperty,
                                          &std::pair<std::string, std::string>::first);
  if (property == trace.properties.end()) return std::nullopt;
  CounterReading reading;
  reading.next_tid = type.ref("next_tid");
  std::string_view names = property->second;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    const FieldRef count = type.ref(name);
    if (!count || count.kind != ValueKind::Integer) return std::nullopt;
    reading.counters.push_back({counter_name(name), count});
  }
  return reading;
}

std::optional<ThrottlingSample> throttling_sample(const EventType& type) {
  if (!type.system.empty() || type.name != "cgroup_cpu_stat") return std::nullopt;
  return ThrottlingSample{type.ref("cgroup"), type.ref("nr_periods"), type.ref("nr_throttled"),
                          type.ref("throttled_ns")};
}

}  // namespace strata::trace
