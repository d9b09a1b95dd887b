// SPDX-License-Identifier: Apache-2.0
#include "clock/anchor.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "clock/tsc.h"

namespace strata::clock {
namespace {

constexpr int kTries = 32;
constexpr size_t kClocks = 4;
// The raw clock is the counter's own line; it stands in the middle, where the anchor is.
constexpr std::array<clockid_t, kClocks> kIds = {CLOCK_REALTIME, CLOCK_MONOTONIC_RAW,
                                                 CLOCK_MONOTONIC, CLOCK_BOOTTIME};
constexpr size_t kWall = 0;
constexpr size_t kRaw = 1;
constexpr size_t kMonotonic = 2;
constexpr size_t kBoottime = 3;

int64_t read_clock(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Without a TSC the raw clock itself tells how long a reading took.
uint64_t read_counter() {
  if constexpr (kHasTsc) return read_tsc();
  return static_cast<uint64_t>(read_clock(CLOCK_MONOTONIC_RAW));
}

// All clocks once, the counter between them.
struct Try {
  std::array<uint64_t, kClocks + 1> counter;
  std::array<int64_t, kClocks> ns;

  uint64_t widest() const {
    uint64_t most = 0;
    for (size_t i = 0; i < kClocks; ++i) most = std::max(most, counter[i + 1] - counter[i]);
    return most;
  }
  uint64_t middle(size_t clock) const {
    return counter[clock] + (counter[clock + 1] - counter[clock]) / 2;
  }
};

Try take_try() {
  Try taken;
  taken.counter[0] = read_counter();
  for (size_t i = 0; i < kClocks; ++i) {
    taken.ns[i] = read_clock(kIds[i]);
    taken.counter[i + 1] = read_counter();
  }
  return taken;
}

}  // namespace

Anchor take_anchor() {
  const Try first = take_try();
  Try best = first;
  Try last = first;
  for (int i = 1; i < kTries; ++i) {
    last = take_try();
    if (last.widest() < best.widest()) best = last;
  }
  // Only ever used over one try, some 100 ns, so a rate from a few microseconds is good enough.
  const auto cycles = static_cast<double>(last.middle(kRaw) - first.middle(kRaw));
  const double rate = cycles > 0 ? static_cast<double>(last.ns[kRaw] - first.ns[kRaw]) / cycles : 0;

  const uint64_t moment = best.middle(kRaw);
  const auto at_moment = [&](size_t clock) {
    const auto distance = static_cast<int64_t>(moment - best.middle(clock));
    return best.ns[clock] + std::llround(static_cast<double>(distance) * rate);
  };
  Anchor anchor;
  anchor.tsc = kHasTsc ? moment : 0;
  anchor.wall_ns = at_moment(kWall);
  anchor.monotonic_raw_ns = at_moment(kRaw);
  anchor.monotonic_ns = at_moment(kMonotonic);
  anchor.boottime_ns = at_moment(kBoottime);
  // Half the window, and a nanosecond for rounding.
  anchor.uncertainty_ns =
      static_cast<uint64_t>(std::ceil(static_cast<double>(best.widest()) * rate / 2)) + 1;
  return anchor;
}

}  // namespace strata::clock
