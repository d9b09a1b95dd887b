// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "format/tracedat/finish.h"
#include "kernel/ring_drain.h"
#include "record/kernel_events.h"
#include "record/live_compression.h"
#include "record/source.h"

namespace strata::record {

// The kernel's events, into host.dat: while it records a head with a file of pages for each CPU
// beside it (see tracedat::TraceDat). Making one file of these is recording::finish_recording().
class KernelSource final : public Source {
 public:
  struct Options {
    std::string folder;
    std::chrono::milliseconds sync{5000};
    std::vector<pid_t> own_threads = {};  // that are left out, besides the source's own
    // Where pages go; none: into files beside the head.
    std::function<Result<kernel::PageFile>(uint32_t cpu)> pages = {};
  };
  KernelSource(KernelEvents& events, Options options);

  Status start() override;
  // While it already records: reads what explains the events and writes the head.
  Status write_head() { return events_.write_head(path_); }
  SourceStatus status() override;
  Status stop() override;
  std::vector<recording::Part> parts() const override { return {part_}; }

  // After start(), of a recording that stays in one folder: its pages are compressed meanwhile.
  void compress_by(LiveCompression& compression) const;

  // A recording may go on in another folder, while events come and without losing one. First, what
  // can fail: the files of pages and the head there. Nothing goes to them yet.
  using PageFiles = std::vector<kernel::PageFile>;
  Result<PageFiles> make_files(const std::string& folder) const;
  // Then the change: from here on parts() tells of the new folder. Gives the part that is complete
  // now, and its files.
  struct Complete {
    recording::Part part;
    PageFiles pages;
  };
  Complete continue_in(const std::string& folder, PageFiles files);
  // What is known of the present part beyond its head, when it ends.
  tracedat::Ending ending() const;

  // In all folders together; losses when stop() has counted them.
  uint64_t bytes() const;
  uint64_t lost() const { return lost_before_; }
  // Of the present folder: how far each CPU's file is written, when all that was in the rings is in
  // them.
  struct Written {
    std::string path;  // of the trace
    std::map<uint32_t, uint64_t> bytes;
  };
  Written take_now();
  // What has been written so far is on the disk.
  void to_disk() const;
  // The session cannot go on: the disk is full, say. Its stop() tells why.
  bool failed() const;

 private:
  Result<PageFiles> make_page_files(const std::string& path) const;
  recording::Part complete_part();

  KernelEvents& events_;
  Options options_;
  std::string path_;
  std::vector<std::unique_ptr<kernel::RingDrain>> drains_;
  recording::Part part_;
  uint64_t lost_before_ = 0;  // in folders that are complete
  bool has_continued_ = false;
  SourceStatus last_;  // once it has stopped
  bool has_stopped_ = false;
};

}  // namespace strata::record
