// SPDX-License-Identifier: Apache-2.0
#include "guest/guest_clock.h"

namespace strata::guest {

Status GuestClock::compare() {
  if (channel_ == nullptr || !counter_) return {};
  const Result<clock::Burst> burst = clock::ask(*channel_, next_burst_++, counter_);
  if (!burst) return burst.error();
  Result<clock::Burst> fastest = clock::fastest(*burst);
  if (!fastest) return std::move(fastest).error();
  const std::lock_guard lock(mutex_);
  bursts_.push_back(*std::move(fastest));
  return {};
}

std::optional<trace::ClockMap> GuestClock::map(double ns_per_tick) const {
  const std::lock_guard lock(mutex_);
  if (bursts_.empty()) return std::nullopt;
  Result<trace::ClockMap> map = clock::map_through(bursts_, ns_per_tick);
  if (!map) return std::nullopt;
  return *std::move(map);
}

}  // namespace strata::guest
