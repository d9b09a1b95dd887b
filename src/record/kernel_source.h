// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "format/tracedat/finish.h"
#include "kernel/ring_drain.h"
#include "record/kernel_events.h"
#include "record/source.h"

namespace strata::record {

// The kernel's events, into host.dat: while it records a head with a file of pages for each CPU
// beside it, afterwards one file (see tracedat::TraceDat).
class KernelSource final : public Source {
 public:
  struct Options {
    std::string folder;
    std::chrono::milliseconds sync{5000};
    bool compressed = true;
  };
  KernelSource(KernelEvents& events, Options options);

  Status start() override;
  // While it already records: reads what explains the events and writes the head.
  Status write_head() { return events_.write_head(path_); }
  SourceStatus status() override;
  Status stop() override;
  std::vector<recording::Part> parts() const override { return {part_}; }

  // After stop(): makes host.dat whole. Until then, and where that fails, the unfinished form
  // opens.
  Status finish(const tracedat::Progress& progress);

  // What has been written so far is on the disk.
  void to_disk() const;
  // The session cannot go on: the disk is full, say. Its stop() tells why.
  bool failed() const;

 private:
  KernelEvents& events_;
  Options options_;
  std::string path_;
  std::vector<std::unique_ptr<kernel::RingDrain>> drains_;
  recording::Part part_;
};

}  // namespace strata::record
