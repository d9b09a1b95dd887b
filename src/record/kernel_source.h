// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/tracedat/finish.h"
#include "kernel/dynamic_probes.h"
#include "kernel/instance.h"
#include "kernel/ring_drain.h"
#include "kernel/tracefs.h"
#include "record/host_clock.h"
#include "record/source.h"

namespace strata::record {

struct KernelRequest {
  std::string session;
  std::string folder;
  std::vector<kernel::EventChoice> events;
  uint64_t buffer_bytes = 0;  // a CPU; 0: chosen from the machine's memory
  std::chrono::milliseconds sync{5000};
  std::vector<pid_t> processes = {};  // empty: all
  std::vector<kernel::ProbeSpec> probes = {};
  std::vector<std::string> presets = {};
  bool compressed = true;
};

// The kernel's events, into host.dat: while it records a head with a file of pages for each CPU
// beside it, afterwards one file (see tracedat::TraceDat).
class KernelSource final : public Source {
 public:
  // `clock` goes on gathering anchors while this records; what it knows at the end counts.
  KernelSource(kernel::Tracefs tracefs, KernelRequest request, const HostClock& clock);

  Status start() override;
  // While it already records: reads what explains the events and writes the head.
  Status write_head();
  SourceStatus status() override;
  Status stop() override;
  std::vector<recording::Part> parts() const override { return {part_}; }

  // After stop(): makes host.dat whole. Until then, and where that fails, the unfinished form
  // opens.
  Status finish(const tracedat::Progress& progress);

  // Events that the kernel did not let us enable, and what was left out of probes; the rest is
  // recorded.
  const std::vector<Error>& refused() const { return refused_; }
  // What has been written so far is on the disk.
  void to_disk() const;
  // The session cannot go on: the disk is full, say. Its stop() tells why.
  bool failed() const;
  // How full the fullest ring is, from 0 to 1.
  double fill() const { return fill_; }

 private:
  Status add_probes();
  std::vector<tracedat::NewOption> options() const;

  kernel::Tracefs tracefs_;
  KernelRequest request_;
  const HostClock& clock_;
  std::string path_;
  std::optional<kernel::Instance> instance_;
  std::optional<kernel::DynamicProbes> probes_;  // gone before the instance is
  std::vector<std::unique_ptr<kernel::RingDrain>> drains_;
  std::vector<uint32_t> cpus_;
  std::vector<Error> refused_;
  std::vector<std::string> final_stats_;
  recording::Part part_;
  uint64_t trace_id_;
  uint32_t page_size_ = 4096;
  double fill_ = 0;
  SourceStatus last_;  // once it has stopped
};

// For each CPU: what loses nothing at ten times overload, and less where that would be much of the
// machine's memory.
uint64_t default_buffer_bytes(size_t cpus);

}  // namespace strata::record
