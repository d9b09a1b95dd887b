// SPDX-License-Identifier: Apache-2.0
#include "guest/guest_pages.h"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/signals_blocked.h"

namespace strata::guest {
namespace {

// In one turn, so that all streams have theirs.
constexpr uint64_t kMostInTurn = uint64_t{4} << 20;
constexpr auto kLongestSleep = std::chrono::hours(1);

}  // namespace

GuestPages::GuestPages(Quota& quota)
    : quota_(quota), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
  thread_id_.wait(0);
}

GuestPages::~GuestPages() { end(); }

void GuestPages::wake() const {
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

Status GuestPages::begin(std::vector<Source> sources, uint32_t page_size,
                         LinkCompression compression) {
  const std::lock_guard lock(mutex_);
  page_size_ = page_size;
  for (Source& source : sources) {
    Result<PageReceiver> receiver =
        PageReceiver::create(*source.data.channel, compression, source.data.received);
    if (!receiver) return std::move(receiver).error();
    streams_.push_back({std::move(source), *std::move(receiver)});
  }
  begun_ = true;
  wake();
  return {};
}

void GuestPages::expect(const std::vector<StreamTotal>& totals) {
  const std::lock_guard lock(mutex_);
  for (const StreamTotal& total : totals) {
    for (Stream& stream : streams_) {
      if (stream.source.cpu == total.stream) stream.total = total.bytes;
    }
  }
  wake();
}

bool GuestPages::all_ended() const { return std::ranges::all_of(streams_, &Stream::ended); }

bool GuestPages::wait(Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (!begun_) return false;
  changed_.wait_until(lock, deadline, [this] { return all_ended() || problem_; });
  return std::ranges::all_of(streams_, [](const Stream& stream) {
    return stream.total && stream.receiver.received() >= *stream.total;
  });
}

std::optional<Error> GuestPages::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void GuestPages::end() {
  if (!thread_.joinable()) return;
  ending_ = true;
  wake();
  thread_.join();
  for (Stream& stream : streams_) {
    const uint64_t whole = stream.receiver.received() / page_size_ * page_size_;
    (void)!ftruncate(stream.source.file.get(), static_cast<off_t>(whole));
  }
  streams_.clear();
}

void GuestPages::run() {
  thread_id_ = static_cast<pid_t>(syscall(SYS_gettid));
  thread_id_.notify_all();
  std::vector<pollfd> files;
  while (!ending_) {
    files = {{wake_.get(), POLLIN, 0}};
    bool at_once = false;
    {
      const std::lock_guard lock(mutex_);
      move_all();
      for (const Stream& stream : streams_) {
        if (stream.ended || problem_) continue;
        files.push_back(stream.source.data.channel->to_receive());
        at_once = at_once || stream.has_more;
      }
    }
    if (at_once) continue;
    wait_for(files, within(kLongestSleep));
    uint64_t count = 0;
    (void)!read(wake_.get(), &count, sizeof count);
  }
}

void GuestPages::move_all() {
  for (Stream& stream : streams_) {
    if (stream.ended || problem_) continue;
    if (Status moved = move(stream); !moved) problem_ = std::move(moved).error();
  }
  if (problem_ || all_ended()) changed_.notify_all();
}

Status GuestPages::move(Stream& stream) {
  const uint64_t before = stream.receiver.received();
  uint64_t most = std::min(kMostInTurn, quota_.left());
  if (stream.total) most = std::min(most, *stream.total - std::min(*stream.total, before));
  const bool is_whole = stream.total && before >= *stream.total;
  if (most == 0 && !is_whole)
    return Error{"", std::nullopt, "has written as much as its quota allows"};
  if (!is_whole) {
    const Result<Pause> pause =
        stream.receiver.move(stream.source.file.get(), stream.source.path, most);
    const uint64_t moved = stream.receiver.received() - before;
    (void)quota_.take(moved);
    bytes_.fetch_add(moved, std::memory_order_relaxed);
    if (!pause) return pause.error();
    stream.has_more = *pause == Pause::Enough;
  }
  stream.ended =
      stream.receiver.ended() || (stream.total && stream.receiver.received() >= *stream.total);
  return {};
}

}  // namespace strata::guest
