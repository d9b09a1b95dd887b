// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "clock/offset_estimate.h"
#include "guest/probe_channel.h"

namespace strata::guest {

// How a guest's clock stands to the host's while both are recorded: bursts of probes over a stream
// of the recording, when it begins, now and then, and when it ends. Bursts are made by one thread;
// any may ask for the map.
class GuestClock {
 public:
  explicit GuestClock(std::string host_clock) : counter_(counter_of(host_clock)) {}

  // Over this channel from here on.
  void begin(std::unique_ptr<ProbeChannel> channel) { channel_ = std::move(channel); }
  // Where it fails, the recording goes by the bursts that there are.
  Status compare();

  // From the guest's clock to the host's, of which so many nanoseconds are a tick; none before the
  // first burst.
  std::optional<trace::ClockMap> map(double ns_per_tick) const;

 private:
  clock::ReadCounter counter_;  // the host's
  std::unique_ptr<ProbeChannel> channel_;
  uint64_t next_burst_ = 1;
  mutable std::mutex mutex_;
  std::vector<clock::Burst> bursts_;  // the fastest messages of each
};

}  // namespace strata::guest
