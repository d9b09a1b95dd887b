// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "guest/dial.h"
#include "guest/guest_files.h"
#include "guest/messages.h"
#include "guest/pages.h"

namespace strata::guest {

// Moves a guest's pages from its streams to files, in a thread of its own. They are counted, never
// looked at; what ends in the middle of a page is cut off at its beginning.
class GuestPages {
 public:
  // Begins the thread. `quota` outlives this.
  explicit GuestPages(Quota& quota);
  ~GuestPages();
  GuestPages(const GuestPages&) = delete;
  GuestPages& operator=(const GuestPages&) = delete;

  pid_t thread() const { return thread_id_; }

  struct Source {
    uint32_t cpu = 0;
    DataChannel data;
    std::string path;  // of the file, which is there
    FileDescriptor file;
  };
  // Once.
  Status begin(std::vector<Source> sources, uint32_t page_size, LinkCompression compression);
  // How much there is of each, when the guest has told: there it ends.
  void expect(const std::vector<StreamTotal>& totals);
  // Until all of it is there, or nothing more comes. Whether all is.
  bool wait(Deadline deadline);
  // Nothing more is wanted. The files hold whole pages then.
  void end();

  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // What ended it.
  std::optional<Error> problem() const;

 private:
  struct Stream {
    Source source;
    PageReceiver receiver;
    std::optional<uint64_t> total = {};
    bool has_more = false;  // at once
    bool ended = false;
  };

  void run();
  void move_all();
  Status move(Stream& stream);
  bool all_ended() const;
  void wake() const;

  Quota& quota_;
  mutable std::mutex mutex_;  // held by the thread while it moves
  std::condition_variable changed_;
  std::list<Stream> streams_;
  uint32_t page_size_ = 4096;
  bool begun_ = false;
  std::optional<Error> problem_;
  std::atomic<bool> ending_ = false;
  std::atomic<uint64_t> bytes_ = 0;
  FileDescriptor wake_;
  std::atomic<pid_t> thread_id_ = 0;
  std::thread thread_;
};

}  // namespace strata::guest
