// SPDX-License-Identifier: Apache-2.0
#include "record/live_compression.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "record/low_priority.h"

namespace strata::record {
namespace {

constexpr int kPauseMilliseconds = 200;
// Before another CPU has its turn, and before somebody who wants to stop is heard.
constexpr size_t kChunksAtOnce = 16;

}  // namespace

LiveCompression::~LiveCompression() {
  if (thread_.joinable()) stop();
}

pid_t LiveCompression::start() {
  wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  thread_ = std::thread([this] { run(); });
  thread_id_.wait(0);
  return thread_id_;
}

void LiveCompression::begin(std::vector<Pages> pages, size_t chunk_size) {
  for (Pages& each : pages) {
    Result<tracedat::PagePacker> packer =
        tracedat::PagePacker::create(each.cpu, each.path, chunk_size);
    if (!packer) continue;  // it is compressed when the recording ends
    packers_.push_back(*std::move(packer));
    pages_.push_back(std::move(each));
  }
  has_begun_.store(true, std::memory_order_release);
}

// It waits in poll() alone: see own_threads.h.
void LiveCompression::run() {
  pthread_setname_np(pthread_self(), "strata-compress");
  give_way(0);
  thread_id_ = gettid();
  thread_id_.notify_all();
  while (!stopping_) {
    if (has_begun_.load(std::memory_order_acquire) && pack_some()) continue;
    pollfd waiting{wake_.get(), POLLIN, 0};
    poll(&waiting, 1, kPauseMilliseconds);
  }
}

bool LiveCompression::pack_some() {
  bool any = false;
  for (size_t i = 0; i < packers_.size() && !stopping_; ++i)
    any |= packers_[i].pack(pages_[i].written(), kChunksAtOnce);
  return any;
}

std::vector<tracedat::PackedPages> LiveCompression::stop() {
  stopping_ = true;
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
  be_ordinary(thread_id_);
  thread_.join();
  std::vector<tracedat::PackedPages> packed;
  for (const tracedat::PagePacker& packer : packers_) packed.push_back(packer.packed());
  return packed;
}

}  // namespace strata::record
