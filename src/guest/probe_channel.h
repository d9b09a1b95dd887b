// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clock/probe_exchange.h"
#include "guest/channel.h"

namespace strata::guest {

// The stream of a recording over which both ends compare their clocks: probes and nothing else.
class ProbeChannel final : public clock::ProbeLink {
 public:
  // `received`: bytes of it that have come already.
  explicit ProbeChannel(std::unique_ptr<Channel> channel, std::vector<std::byte> received = {});

  Status send(const clock::ProbeBytes& bytes) override;
  Result<bool> try_receive(clock::ProbeBytes& bytes) override;
  void wait(std::chrono::microseconds most) override;

  // The number of the burst whose probe comes next; try_receive() still gives that. None: no probe
  // has come.
  Result<std::optional<uint64_t>> next_burst();
  // For what to wait until one may have come.
  pollfd to_receive() const { return channel_->to_receive(); }

 private:
  Result<bool> fill();

  std::unique_ptr<Channel> channel_;
  std::vector<std::byte> received_;
};

// The counter that stamps the kernel's events where its tracer goes by this clock ("x86-tsc"); none
// where only the kernel can read it.
clock::ReadCounter counter_of(const std::string& kernel_clock);

}  // namespace strata::guest
