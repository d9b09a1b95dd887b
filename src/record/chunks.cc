// SPDX-License-Identifier: Apache-2.0
#include "record/chunks.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/folder_size.h"
#include "base/time_text.h"
#include "record/low_priority.h"
#include "recording/delete.h"
#include "recording/finish.h"

namespace strata::record {
namespace {

// So many chunks make up what is kept: one too many or too few is a tenth.
constexpr int kShares = 10;
// Each chunk has a head and a starting state of its own: below this, they would be most of it.
constexpr std::chrono::seconds kShortest(1);
constexpr uint64_t kSmallest = uint64_t{4} << 20;
// When as many wait to be finished, more come than can be.
constexpr ptrdiff_t kBehind = 3;

// Tests have chunks of another size: many of them, while nothing is deleted.
std::optional<uint64_t> share_of(const Keep& keep) {
  if (const char* bytes = std::getenv("STRATA_CHUNK_BYTES"))
    return std::strtoull(bytes, nullptr, 10);
  if (!keep.bytes) return std::nullopt;
  return std::max(*keep.bytes / kShares, kSmallest);
}

// "20261115T184500.123Z"
std::string chunk_name(int64_t since_epoch_ns) {
  const time_t seconds = since_epoch_ns / 1'000'000'000;
  tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  const size_t length = strftime(text, sizeof text, "%Y%m%dT%H%M%S", &utc);
  std::snprintf(text + length, sizeof text - length, ".%03dZ",
                static_cast<int>(since_epoch_ns / 1'000'000 % 1000));
  return text;
}

}  // namespace

Chunks::Chunks(std::string folder, Keep keep, bool compressed)
    : folder_(std::move(folder)), keep_(keep), compressed_(compressed), share_(share_of(keep)) {}

Chunks::~Chunks() {
  if (thread_.joinable()) finish_all({});
}

pid_t Chunks::start() {
  thread_ = std::thread([this] { run(); });
  thread_id_.wait(0);
  return thread_id_;
}

Result<std::string> Chunks::make_folder() const {
  std::string path = folder_ + "/" + chunk_name(now_since_epoch().count);
  if (mkdir(path.c_str(), 0700) != 0) return system_error(path, "cannot create", errno);
  return path;
}

bool Chunks::should_end(std::chrono::nanoseconds age, uint64_t bytes) const {
  const bool is_long =
      keep_.time && age >= std::max<std::chrono::nanoseconds>(*keep_.time / kShares, kShortest);
  return is_long || (share_ && bytes >= *share_);
}

void Chunks::finish(EndedChunk chunk) {
  const std::lock_guard lock(mutex_);
  chunks_.push_back({std::move(chunk)});
  tell_if_behind();
  changed_.notify_all();
}

// Once, until it has caught up.
void Chunks::tell_if_behind() {
  const ptrdiff_t waiting = std::ranges::count(chunks_, Step::Waiting, &Chunk::step);
  if (waiting == 0) told_behind_ = false;
  if (waiting < kBehind || told_behind_) return;
  told_behind_ = true;
  problems_.push_back({folder_, std::nullopt,
                       "finishing cannot keep up: " + std::to_string(waiting) +
                           " chunks wait for it; they open as they are"});
}

// Of all that is in the folder. Chunks that are done do not change any more.
uint64_t Chunks::size() const {
  uint64_t size = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    const std::string path = entry.path();
    const auto known = std::ranges::find_if(chunks_, [&](const Chunk& chunk) {
      return chunk.step == Step::Done && chunk.ended.folder == path;
    });
    size += known != chunks_.end() ? known->size : folder_size(path);
  }
  return size;
}

void Chunks::delete_old(std::chrono::steady_clock::time_point now) {
  for (;;) {
    std::string folder;
    {
      const std::lock_guard lock(mutex_);
      const auto oldest = std::ranges::find_if(
          chunks_, [](const Chunk& chunk) { return chunk.step != Step::Deleted; });
      if (oldest == chunks_.end() || (no_more_ && std::next(oldest) == chunks_.end())) return;
      const bool is_old = keep_.time && oldest->ended.end < now - *keep_.time;
      if (!is_old && !(keep_.bytes && size() > *keep_.bytes)) return;
      folder = oldest->ended.folder;
      // On a busy machine finishing takes for ever: what is to go must not wait for it.
      if (oldest->step == Step::Finishing)
        oldest->step = Step::Deleted;
      else
        chunks_.erase(oldest);
    }
    recording::delete_recording(folder);
  }
}

bool Chunks::is_finishing() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(chunks_, [](const Chunk& chunk) {
    return chunk.step == Step::Waiting || chunk.step == Step::Finishing;
  });
}

std::vector<Error> Chunks::problems() {
  const std::lock_guard lock(mutex_);
  return std::exchange(problems_, {});
}

bool Chunks::finish_all(const std::function<void(uint64_t, uint64_t)>& progress) {
  {
    std::unique_lock lock(mutex_);
    no_more_ = true;
    changed_.notify_all();
    be_ordinary(thread_id_);
    const auto is_done = [&] {
      return std::ranges::all_of(chunks_,
                                 [](const Chunk& chunk) { return chunk.step == Step::Done; });
    };
    while (!changed_.wait_for(lock, std::chrono::milliseconds(100), is_done)) {
      if (progress && total_ > 0) progress(done_, total_);
    }
  }
  thread_.join();
  return all_finished_;
}

Chunks::Chunk* Chunks::next_waiting() {
  const auto next = std::ranges::find(chunks_, Step::Waiting, &Chunk::step);
  return next != chunks_.end() ? &*next : nullptr;
}

void Chunks::run() {
  pthread_setname_np(pthread_self(), "strata-finish");
  give_way(0);
  thread_id_ = gettid();
  thread_id_.notify_all();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return no_more_ || next_waiting() != nullptr; });
    Chunk* chunk = next_waiting();
    if (chunk == nullptr) return;
    // It stays where it is in the list, even if it is deleted meanwhile.
    chunk->step = Step::Finishing;
    lock.unlock();
    Status finished = finish_one(chunk->ended);
    const uint64_t size = folder_size(chunk->ended.folder);
    lock.lock();
    if (chunk->step == Step::Deleted) {
      chunks_.remove_if([&](const Chunk& other) { return &other == chunk; });
    } else {
      chunk->size = size;
      chunk->step = Step::Done;
      if (!finished) {
        all_finished_ = false;
        problems_.push_back(std::move(finished).error());
      }
    }
    tell_if_behind();
    changed_.notify_all();
  }
}

Status Chunks::finish_one(EndedChunk& chunk) {
  for (const kernel::PageFile& page : chunk.pages) fdatasync(page.file.get());
  chunk.pages.clear();
  const Result<recording::Finished> finished =
      recording::finish_recording(chunk.folder, {compressed_,
                                                 [this](uint64_t done, uint64_t total) {
                                                   total_ = total;
                                                   done_ = done;
                                                 },
                                                 std::exchange(chunk.ending, {})});
  return finished ? Status() : Status(finished.error());
}

}  // namespace strata::record
