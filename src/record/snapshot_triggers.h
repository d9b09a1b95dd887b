// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/trigger.h"

namespace strata::record {

// What asks for snapshots by itself, and when one is due: `after` a trigger, so that what follows
// from it is seen too. While one is due, and for a second after it was saved, further triggers are
// only counted: what happens all the time does not fill the disk by itself.
class SnapshotTriggers {
 public:
  using Clock = std::chrono::steady_clock;

  static Result<SnapshotTriggers> open(const kernel::Tracefs& tracefs,
                                       const std::vector<uint32_t>& cpus,
                                       const std::vector<kernel::TriggerSpec>& specs,
                                       std::chrono::nanoseconds after);
  SnapshotTriggers(std::vector<std::unique_ptr<kernel::Trigger>> triggers,
                   std::chrono::nanoseconds after)
      : triggers_(std::move(triggers)), after_(after) {}

  // To be waited for, beside next().
  void add_files(std::vector<pollfd>& waiting) const;
  Clock::time_point next() const { return due_ ? due_->at : Clock::time_point::max(); }

  // What asked for a snapshot, if one is to be taken now.
  std::optional<std::string> due(Clock::time_point now);
  // It was.
  void saved(Clock::time_point now);
  // Triggers that no snapshot was taken for.
  uint64_t left_out() const { return left_out_; }

 private:
  void look(Clock::time_point now);

  struct Due {
    std::string cause;
    Clock::time_point at;
  };
  std::vector<std::unique_ptr<kernel::Trigger>> triggers_;
  std::chrono::nanoseconds after_;
  std::optional<Due> due_;
  Clock::time_point quiet_until_;
  uint64_t left_out_ = 0;
};

}  // namespace strata::record
