// SPDX-License-Identifier: Apache-2.0
#include "guest/clock_answerer.h"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "base/signals_blocked.h"

namespace strata::guest {
namespace {

// A host that begins a burst and does not go on is not waited for: what is left of it is passed
// over.
constexpr clock::BurstLimits kLimits{.patience = std::chrono::milliseconds(300)};

}  // namespace

ClockAnswerer::ClockAnswerer() : end_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
  thread_id_.wait(0);
}

ClockAnswerer::~ClockAnswerer() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  const uint64_t one = 1;
  (void)!write(end_.get(), &one, sizeof one);
  changed_.notify_all();
  thread_.join();
}

void ClockAnswerer::answer(std::unique_ptr<ProbeChannel> channel, clock::ReadCounter counter) {
  const std::lock_guard lock(mutex_);
  channel_ = std::move(channel);
  counter_ = std::move(counter);
  changed_.notify_all();
}

void ClockAnswerer::run() {
  thread_id_ = static_cast<pid_t>(syscall(SYS_gettid));
  thread_id_.notify_all();
  std::unique_ptr<ProbeChannel> channel;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ending_ || channel_ != nullptr; });
    channel = std::move(channel_);
  }
  if (channel != nullptr && counter_) answer_bursts(*channel, counter_);
}

void ClockAnswerer::answer_bursts(ProbeChannel& channel, const clock::ReadCounter& counter) {
  while (!ending_) {
    const Result<std::optional<uint64_t>> burst = channel.next_burst();
    if (!burst) return;
    if (*burst) {
      // One that fails is the host's to tell of.
      (void)static_cast<bool>(clock::answer(channel, **burst, counter, kLimits));
      continue;
    }
    std::array<pollfd, 2> files = {channel.to_receive(), pollfd{end_.get(), POLLIN, 0}};
    wait_for(files, within(std::chrono::hours(1)));
  }
}

}  // namespace strata::guest
