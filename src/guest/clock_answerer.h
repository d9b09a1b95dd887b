// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/file_descriptor.h"
#include "guest/probe_channel.h"

namespace strata::guest {

// Answers a host that compares its clock with this machine's, in a thread of its own: both ends
// poll while they do, and nothing else may come between.
class ClockAnswerer {
 public:
  ClockAnswerer();
  ~ClockAnswerer();
  ClockAnswerer(const ClockAnswerer&) = delete;
  ClockAnswerer& operator=(const ClockAnswerer&) = delete;

  pid_t thread() const { return thread_id_; }
  // From now on over this channel, once, with the counter of the tracer's clock.
  void answer(std::unique_ptr<ProbeChannel> channel, clock::ReadCounter counter);

 private:
  void run();
  void answer_bursts(ProbeChannel& channel, const clock::ReadCounter& counter);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<ProbeChannel> channel_;
  clock::ReadCounter counter_;
  std::atomic<bool> ending_ = false;
  FileDescriptor end_;  // readable when it is to end
  std::atomic<pid_t> thread_id_ = 0;
  std::thread thread_;
};

}  // namespace strata::guest
