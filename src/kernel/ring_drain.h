// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "kernel/instance.h"

namespace strata::kernel {

// Moves one CPU's pages from the kernel's ring to a file, in a thread of its own, without looking
// at them: splice hands the pages on as they are.
//
// The thread sleeps until the ring is half full. So that a quiet CPU's events do not stay in memory
// for ever, it also takes what there is, the partly filled page included, once in every `sync`
// interval. That it is on the disk, too, is for another thread to see to (to_disk), since nobody
// knows how long that takes.
//
// What the file system refuses (it is full, say) ends the draining: failed() says so, and what was
// written until then are whole pages.
class RingDrain {
 public:
  // `path` is made anew, readable for its owner alone.
  static Result<std::unique_ptr<RingDrain>> start(const Instance& instance, uint32_t cpu,
                                                  const std::string& path,
                                                  std::chrono::milliseconds sync);
  ~RingDrain();
  RingDrain(const RingDrain&) = delete;
  RingDrain& operator=(const RingDrain&) = delete;

  // What this thread does must not be in the trace: each of its calls would cause the next. See
  // Instance::leave_out().
  pid_t thread() const { return thread_id_; }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  bool failed() const { return failed_.load(std::memory_order_acquire); }

  // Waits until what has been written so far is on the disk.
  void to_disk() const { fdatasync(file_.get()); }

  // When tracing is off: takes the rest and ends.
  Status finish();

 private:
  RingDrain(const Instance& instance, uint32_t cpu, std::string path,
            std::chrono::milliseconds sync);
  Status open_files(const Instance& instance, uint32_t cpu);
  void run();
  bool move_full_pages();
  bool take_rest();
  bool fail(std::string what, int error_number);

  uint32_t page_size_;
  std::string ring_path_;
  std::string path_;
  std::chrono::milliseconds sync_;
  FileDescriptor ring_;
  FileDescriptor file_;
  FileDescriptor pipe_out_;
  FileDescriptor pipe_in_;
  FileDescriptor wake_;
  size_t pipe_size_ = 65536;
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> failed_ = false;  // then error_ is set and stays
  Error error_;
  std::atomic<pid_t> thread_id_ = 0;
  std::thread thread_;
};

}  // namespace strata::kernel
