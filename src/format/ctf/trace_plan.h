// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/ctf/description.h"
#include "format/ctf/stream_plan.h"

namespace strata::ctf {

// How a trace is read, after its metadata: what all its streams share.
struct TracePlan {
  Description description;
  size_t slots = 0;
  std::vector<StreamPlan> streams;
  bool tracks_tasks = false;  // of a kernel: switches tell which thread its CPU runs

  // Null: none of this plan's description.
  const StreamPlan* find(const StreamClass* stream) const;
};

// With every event type bound to what it means.
Result<std::unique_ptr<TracePlan>> plan_trace(Description description,
                                              const std::string& metadata_path);

// The plans of a trace whose metadata grow while it is read: each is made of all that was there at
// the time. The older ones stay, because event types in them are still pointed to.
class PlanHistory {
 public:
  const TracePlan& newest() const { return *plans_.back(); }
  void add(std::unique_ptr<TracePlan> plan) {
    plans_.push_back(std::move(plan));
    apply_clock();
  }
  // Before any stream is read: what leads from the streams' clocks to the time, instead of what the
  // metadata say.
  void use_clock(std::vector<trace::ClockMap> chain) {
    clock_ = std::move(chain);
    apply_clock();
  }
  // What leads on from there to the times of another trace.
  void follow_clock(trace::ClockMap to_reference) {
    to_reference_ = std::move(to_reference);
    apply_clock();
  }

 private:
  void apply_clock() {
    for (StreamPlan& stream : plans_.back()->streams) {
      if (clock_ && stream.has_clock) stream.clock = *clock_;
      if (to_reference_) stream.to_reference = *to_reference_;
    }
  }

  std::vector<std::unique_ptr<TracePlan>> plans_;
  std::optional<std::vector<trace::ClockMap>> clock_;
  std::optional<trace::ClockMap> to_reference_;
};

}  // namespace strata::ctf
