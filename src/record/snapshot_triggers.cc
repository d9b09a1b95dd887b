// SPDX-License-Identifier: Apache-2.0
#include "record/snapshot_triggers.h"

#include <utility>

namespace strata::record {
namespace {

constexpr std::chrono::seconds kBetween{1};

}  // namespace

Result<SnapshotTriggers> SnapshotTriggers::open(const kernel::Tracefs& tracefs,
                                                const std::vector<uint32_t>& cpus,
                                                const std::vector<kernel::TriggerSpec>& specs,
                                                std::chrono::nanoseconds after) {
  std::vector<std::unique_ptr<kernel::Trigger>> triggers;
  for (const kernel::TriggerSpec& spec : specs) {
    Result<std::unique_ptr<kernel::Trigger>> trigger = kernel::watch(tracefs, spec, cpus);
    if (!trigger) return std::move(trigger).error();
    triggers.push_back(*std::move(trigger));
  }
  return SnapshotTriggers(std::move(triggers), after);
}

void SnapshotTriggers::add_files(std::vector<pollfd>& waiting) const {
  for (const auto& trigger : triggers_) {
    for (const int file : trigger->files()) waiting.push_back({file, POLLIN, 0});
  }
}

void SnapshotTriggers::look(Clock::time_point now) {
  for (const auto& trigger : triggers_) {
    uint64_t times = trigger->take();
    if (times > 0 && !due_ && now >= quiet_until_) {
      due_ = {trigger->what(), now + after_};
      --times;
    }
    left_out_ += times;
  }
}

std::optional<std::string> SnapshotTriggers::due(Clock::time_point now) {
  look(now);
  if (!due_ || now < due_->at) return std::nullopt;
  return std::exchange(due_, std::nullopt)->cause;
}

void SnapshotTriggers::saved(Clock::time_point now) {
  quiet_until_ = now + kBetween;
  look(now);  // what happened while it was being saved comes too soon
}

}  // namespace strata::record
