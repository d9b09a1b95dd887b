// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/ebpf.h"
#include "kernel/trigger.h"

struct latency;      // the eBPF program, as bpftool names it
struct ring_buffer;  // libbpf's

namespace strata::kernel {

// That a thread took too long from one event to another, which an eBPF program measures.
//
// The thread is the one in which the event happens; but of a wake-up the woken one, and of a switch
// the one that leaves the CPU where it begins the time, and the one that gets it where it ends it.
// So latency(sched_waking, sched_switch) is the time from wake-up to running, and
// latency(sched_switch, sched_switch) the time off the CPU. Where the first event comes again
// before the second, the time counts from the last one.
class LatencyTrigger final : public Trigger {
 public:
  static Result<std::unique_ptr<Trigger>> open(const Tracefs& tracefs, const TriggerSpec& spec);
  ~LatencyTrigger() override;

  std::vector<int> files() const override;
  uint64_t take() override;
  std::string what() const override;

 private:
  explicit LatencyTrigger(std::string text);
  Status load(const Tracefs& tracefs, const TriggerSpec& spec);
  void note(const void* data, size_t size);

  std::string text_;
  EbpfObject<latency> program_;
  ring_buffer* slow_ = nullptr;
  uint64_t count_ = 0;  // since take()
  uint64_t untold_ = 0;
  uint64_t last_thread_ = 0;
  uint64_t last_took_ns_ = 0;
};

}  // namespace strata::kernel
