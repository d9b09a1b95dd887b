// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "kernel/ring_snapshot.h"
#include "record/app_source.h"
#include "record/kernel_events.h"
#include "record/source.h"

namespace strata::record {

// How the rings' contents are had while recording goes on.
enum class FlightWay : uint8_t {
  Mapped,   // copied from the mapped rings: nothing is taken out of them
  Swapped,  // the kernel's own snapshot exchanges the rings for empty ones
  Stopped,  // recording stops, the rings are emptied, recording goes on
};
std::string_view name_of(FlightWay way);

// Anchors of the clock that are worth keeping, taken every five minutes: a recorder that runs for
// months has no use for what the clock did in the first of them.
constexpr size_t kFlightAnchors = 12;

// All rings at one moment.
struct FlightCopy {
  std::vector<kernel::RingCopy> rings;  // the kernel's, in the order of the instance's CPUs
  AppSource::Copies programs = {};      // up to a moment later
  // Since the epoch: from `begin_ns` to `end_ns` every ring has all its events. Older ones are
  // there of those that had fewer.
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  // Nothing was recorded from then to `begin_ns`; 0: no such gap.
  int64_t gap_ns = 0;
  FlightWay way = FlightWay::Mapped;
  std::chrono::nanoseconds took{};
};

// A flight recorder of the kernel: its rings, which keep what came last and are read only when
// somebody wants that. The best way that the kernel has is found when it starts.
class Flight {
 public:
  // `way`: this one or none, for tests.
  Flight(KernelEvents& events, HostClock& clock, std::optional<FlightWay> way)
      : events_(events), clock_(clock), wanted_(way) {}

  // `own_threads` are left out, besides this one.
  Status start(std::vector<pid_t> own_threads);
  FlightWay way() const { return way_; }
  // Its events are all that were recorded so far, its bytes those in the rings.
  SourceStatus status() const;
  // How far back every CPU has all its events; none where the clock does not tell.
  std::optional<std::chrono::nanoseconds> reach() const;
  Result<FlightCopy> copy();
  Status stop();

 private:
  Status choose_way();
  Status map_rings();
  Result<std::vector<kernel::RingCopy>> take(Ticks until);
  Result<std::vector<kernel::RingCopy>> take_files(std::string_view file) const;

  KernelEvents& events_;
  HostClock& clock_;
  std::optional<FlightWay> wanted_;
  FlightWay way_ = FlightWay::Mapped;
  std::vector<kernel::MappedRing> mapped_;
  int64_t since_ns_ = 0;  // what came before is not in the rings, or already in another copy
  int64_t gap_ns_ = 0;
};

}  // namespace strata::record
