// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "format/tracedat/finish.h"
#include "kernel/ring_drain.h"

namespace strata::record {

// How much of a recording without end is kept. What is not given does not limit it.
struct Keep {
  std::optional<std::chrono::nanoseconds> time;
  std::optional<uint64_t> bytes;

  bool is_limited() const { return time || bytes; }
};

// A chunk that nothing more is written to, and what is needed to finish it.
struct EndedChunk {
  std::string folder;
  // By this clock, since the time of day may be set.
  std::chrono::steady_clock::time_point end;
  std::vector<kernel::PageFile> pages;  // closed when they are on the disk
  tracedat::Ending ending;
};

// The folder of a recording without end: in it one recording a chunk, each named for the time at
// which it begins, in UTC, so that the order of their names is theirs.
//
// Chunks that have ended are finished one after another by a thread that gives way to everything
// else on the machine. Where it cannot keep up, that is told, and chunks stay in the unfinished
// form, which opens. What is deleted is the oldest, finished or not.
//
// Used by one thread, besides its own.
class Chunks {
 public:
  // Begins no thread yet.
  Chunks(std::string folder, Keep keep, bool compressed);
  ~Chunks();
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;

  // Gives the thread's number: what it does should not be in the recording.
  pid_t start();

  // A new folder for the next chunk.
  Result<std::string> make_folder() const;
  // Whether a chunk that has recorded for so long, and so many bytes, has had its share.
  bool should_end(std::chrono::nanoseconds age, uint64_t bytes) const;
  void finish(EndedChunk chunk);
  // Deletes what is beyond the limits. The chunk that is being recorded counts, but is never
  // deleted; when no more come, that is the last one.
  void delete_old(std::chrono::steady_clock::time_point now);
  // Whether the thread has something to do.
  bool is_finishing() const;
  // What went wrong since this was last asked.
  std::vector<Error> problems();

  // No more chunks come: the thread hurries now. Waits until it has finished all; false where some
  // could not be.
  bool finish_all(const std::function<void(uint64_t done, uint64_t total)>& progress);

 private:
  enum class Step : uint8_t { Waiting, Finishing, Done, Deleted };
  struct Chunk {
    EndedChunk ended;
    Step step = Step::Waiting;
    uint64_t size = 0;  // when it is done
  };

  void run();
  Chunk* next_waiting();
  Status finish_one(EndedChunk& chunk);
  uint64_t size() const;
  void tell_if_behind();

  const std::string folder_;
  const Keep keep_;
  const bool compressed_;
  const std::optional<uint64_t> share_;  // of bytes, before a chunk ends
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Chunk> chunks_;  // the oldest first; without the one that is being recorded
  std::vector<Error> problems_;
  bool told_behind_ = false;
  bool all_finished_ = true;
  bool no_more_ = false;
  std::atomic<uint64_t> done_ = 0;  // of the one that is being finished
  std::atomic<uint64_t> total_ = 0;
  std::atomic<pid_t> thread_id_ = 0;
  std::thread thread_;
};

}  // namespace strata::record
