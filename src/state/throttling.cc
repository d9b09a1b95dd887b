// SPDX-License-Identifier: Apache-2.0
#include "state/throttling.h"

#include <optional>

namespace strata::state {

bool Throttling::add_type(const trace::EventType& type) {
  const std::optional<trace::ThrottlingSample> sample = throttling_sample(type);
  if (sample) types_.emplace(&type, *sample);
  return sample.has_value();
}

bool Throttling::take(const trace::Event& event, Names& names) {
  const auto type = types_.find(event.type);
  if (type == types_.end()) return false;
  const trace::ThrottlingSample& sample = type->second;
  const auto number = [&](const trace::FieldRef& field) {
    return static_cast<uint64_t>(event.integer(field).value_or(0));
  };
  const Counts now{number(sample.periods), number(sample.throttled), number(sample.throttled_ns)};
  const NameId name = names.id(event.text(sample.cgroup));
  const auto [last, is_first] = last_.try_emplace(name, now);
  Counts& sum = cgroups_[name];
  // Numbers that have become smaller are those of another cgroup of this name.
  const Counts& before = last->second;
  if (!is_first && now.periods >= before.periods && now.throttled >= before.throttled &&
      now.throttled_ns >= before.throttled_ns) {
    sum.periods += now.periods - before.periods;
    sum.throttled += now.throttled - before.throttled;
    sum.throttled_ns += now.throttled_ns - before.throttled_ns;
  }
  last->second = now;
  return true;
}

void Throttling::reset() {
  for (auto& [name, sum] : cgroups_) sum = {};
}

}  // namespace strata::state
