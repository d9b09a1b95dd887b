// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "tracefs.h"

namespace strata::bench {

// Moves one CPU's full pages from the kernel's ring to a file, in a thread of its own, without
// looking at them: splice hands the pages on as they are.
class Drain {
 public:
  // The file has no name: it ends with this object, whatever ends this program.
  Drain(const Instance& instance, uint32_t cpu, const std::filesystem::path& folder);
  ~Drain();
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  // To be called when tracing is off: takes what is left, the last and partly filled page included.
  void finish();

  uint32_t cpu() const { return cpu_; }
  // Whole pages, to be read after finish().
  int file() const { return file_; }

 private:
  void run();
  bool splice_once();
  void read_rest();

  const Instance& instance_;
  uint32_t cpu_;
  uint32_t page_size_;
  int ring_ = -1;
  int file_ = -1;
  int pipe_[2] = {-1, -1};
  std::atomic<bool> stopping_ = false;
  std::string problem_;
  std::thread thread_;
};

}  // namespace strata::bench
