// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "kernel/instance.h"

namespace strata::kernel {

// A file that takes pages.
//
// While much is written to it, it has room ahead: its size is more than was written, the rest being
// zeros, until trim(). A file system that has to find blocks for every page makes the writer wait
// for whoever finds blocks for pages of before: on ext4, for seconds, on a busy machine.
struct PageFile {
  std::string path;
  FileDescriptor file;
  uint64_t written = 0;
  uint64_t room = 0;  // how far there are blocks already

  // Made anew, readable for its owner alone.
  static Result<PageFile> create(std::string path);
  // Room for what comes next, in proportion to what came so far.
  void make_room();
  // To what was written.
  void trim();
};

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
  static Result<std::unique_ptr<RingDrain>> start(const Instance& instance, uint32_t cpu,
                                                  PageFile file, std::chrono::milliseconds sync);
  ~RingDrain();
  RingDrain(const RingDrain&) = delete;
  RingDrain& operator=(const RingDrain&) = delete;

  // What this thread does must not be in the trace: each of its calls would cause the next. See
  // Instance::leave_out().
  pid_t thread() const { return thread_id_; }
  // In all files together.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  bool failed() const { return failed_.load(std::memory_order_acquire); }

  // Waits until what has been written so far to the present file is on the disk.
  void to_disk() const { fdatasync(file_.file.get()); }

  // What is in the ring now goes to the present file yet, what comes then to `next`: no page is
  // lost and none is in both. Gives the file that is complete now. Where draining has failed,
  // nothing goes to `next` any more.
  PageFile continue_in(PageFile next);

  // Waits until what has been in the ring so far is in the file. How much the file holds then.
  uint64_t take_now();

  // When tracing is off: takes the rest and ends.
  Status finish();

 private:
  RingDrain(const Instance& instance, uint32_t cpu, PageFile file, std::chrono::milliseconds sync);
  Status open_files(const Instance& instance, uint32_t cpu);
  void run();
  void wake();
  void answer();
  bool move_full_pages();
  bool take_rest(size_t most_pages);
  bool fail(std::string what, int error_number);

  uint32_t page_size_;
  std::string ring_path_;
  std::chrono::milliseconds sync_;
  PageFile file_;
  FileDescriptor ring_;
  FileDescriptor pipe_out_;
  FileDescriptor pipe_in_;
  FileDescriptor wake_;
  size_t pipe_size_ = 65536;
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> failed_ = false;  // then error_ is set and stays
  Error error_;
  // Asks for the change of files, and then holds the old one. The present file is the thread's own
  // but for that moment.
  std::mutex asking_;
  std::condition_variable answered_;
  std::optional<PageFile> next_;
  bool has_changed_ = false;
  uint64_t takes_wanted_ = 0;
  uint64_t takes_done_ = 0;
  uint64_t taken_ = 0;  // what the file held after the last one
  bool has_ended_ = false;
  std::atomic<pid_t> thread_id_ = 0;
  std::thread thread_;
};

}  // namespace strata::kernel
