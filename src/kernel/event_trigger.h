// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_descriptor.h"
#include "kernel/trigger.h"

namespace strata::kernel {

// An event, with the kernel's filter: perf counts it on each CPU and wakes us at each one.
class EventTrigger final : public Trigger {
 public:
  static Result<std::unique_ptr<Trigger>> open(const Tracefs& tracefs, const TriggerSpec& spec,
                                               const std::vector<uint32_t>& cpus);
  ~EventTrigger() override;

  std::vector<int> files() const override;
  uint64_t take() override;
  std::string what() const override { return text_; }

 private:
  // One CPU's; perf tells of an event only to who has mapped a ring, however small.
  struct Counter {
    FileDescriptor file;
    void* ring = nullptr;
  };

  explicit EventTrigger(std::string text) : text_(std::move(text)) {}
  Status add_cpu(uint32_t tracepoint, const std::string& filter, uint32_t cpu);

  std::string text_;
  std::vector<Counter> counters_;
  uint64_t taken_ = 0;
};

}  // namespace strata::kernel
