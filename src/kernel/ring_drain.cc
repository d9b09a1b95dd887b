// SPDX-License-Identifier: Apache-2.0
#include "kernel/ring_drain.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

using Clock = std::chrono::steady_clock;

// As much as moves at once. Without the right to that much, what there is does as well.
constexpr int kPipeSize = 1 << 20;

// While events still come: whoever wanted the last of them would never be done.
constexpr size_t kPagesOfRest = 4;
constexpr uint64_t kMostBeforeAnswer = uint64_t{64} << 20;
constexpr size_t kAllPages = SIZE_MAX;

}  // namespace

Result<PageFile> PageFile::create(std::string path) {
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return system_error(path, "cannot create", errno);
  PageFile pages;
  pages.path = std::move(path);
  pages.file = std::move(file);
  return pages;
}

void PageFile::make_room() {
  constexpr uint64_t kWorthIt = uint64_t{16} << 20;
  constexpr uint64_t kMostAhead = uint64_t{256} << 20;
  const uint64_t ahead = std::min(written, kMostAhead);
  if (written < kWorthIt || room >= written + ahead / 2) return;
  room = written + ahead;  // whether or not: it is not tried again at once
  // Not where others would miss it.
  struct statvfs space {};
  if (fstatvfs(file.get(), &space) != 0 || space.f_bavail * space.f_frsize < 16 * ahead) return;
  fallocate(file.get(), 0, static_cast<off_t>(written), static_cast<off_t>(ahead));
}

void PageFile::trim() {
  if (room > written) (void)!ftruncate(file.get(), static_cast<off_t>(written));
  room = 0;
}

Result<std::unique_ptr<RingDrain>> RingDrain::start(const Instance& instance, uint32_t cpu,
                                                    PageFile file, std::chrono::milliseconds sync) {
  std::unique_ptr<RingDrain> drain(new RingDrain(instance, cpu, std::move(file), sync));
  if (Status status = drain->open_files(instance, cpu); !status) return std::move(status).error();
  drain->thread_ = std::thread([self = drain.get()] { self->run(); });
  drain->thread_id_.wait(0);
  return drain;
}

RingDrain::RingDrain(const Instance& instance, uint32_t cpu, PageFile file,
                     std::chrono::milliseconds sync)
    : page_size_(instance.page_size()),
      ring_path_(instance.cpu_file(cpu, "trace_pipe_raw")),
      sync_(sync),
      file_(std::move(file)) {}

Status RingDrain::open_files(const Instance& instance, uint32_t cpu) {
  ring_ = instance.open_cpu_file(cpu, "trace_pipe_raw", O_RDONLY | O_NONBLOCK);
  if (!ring_) return system_error(ring_path_, "cannot open", errno);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error(file_.path, "cannot make a pipe", errno);
  pipe_out_ = FileDescriptor(ends[0]);
  pipe_in_ = FileDescriptor(ends[1]);
  if (const int size = fcntl(ends[1], F_SETPIPE_SZ, kPipeSize); size > 0)
    pipe_size_ = static_cast<size_t>(size);
  wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return system_error(file_.path, "cannot make an eventfd", errno);
  return {};
}

RingDrain::~RingDrain() {
  if (thread_.joinable()) (void)static_cast<bool>(finish());
}

void RingDrain::run() {
  thread_id_ = static_cast<pid_t>(syscall(SYS_gettid));
  thread_id_.notify_all();
  // A ring that overflows is worse than a task that waits a little longer. Without the right to
  // that it is an ordinary thread.
  {
    const Privilege privilege{Capability::SysNice};
    const sched_param priority{.sched_priority = 1};
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
  }
  Clock::time_point next_sync = Clock::now() + sync_;
  while (!stopping_ && !failed_) {
    pollfd waiting[] = {{ring_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(next_sync - Clock::now()).count();
    poll(waiting, 2, static_cast<int>(std::max<int64_t>(left, 0)));
    if ((waiting[1].revents & POLLIN) != 0) answer();
    while (move_full_pages()) {
    }
    file_.make_room();  // while the ring is empty
    if (Clock::now() < next_sync || stopping_ || failed_) continue;
    take_rest(kPagesOfRest);
    next_sync = Clock::now() + sync_;
  }
  const std::lock_guard lock(asking_);
  has_ended_ = true;
  answered_.notify_all();
}

void RingDrain::wake() {
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

PageFile RingDrain::continue_in(PageFile next) {
  std::unique_lock lock(asking_);
  next_.emplace(std::move(next));
  has_changed_ = false;
  wake();
  answered_.wait(lock, [this] { return has_changed_ || has_ended_; });
  if (!has_changed_) std::swap(file_, *next_);  // nobody writes to either
  PageFile old = std::move(*next_);
  next_.reset();
  return old;
}

uint64_t RingDrain::take_now() {
  std::unique_lock lock(asking_);
  const uint64_t wanted = ++takes_wanted_;
  wake();
  answered_.wait(lock, [&] { return takes_done_ >= wanted || has_ended_; });
  return taken_;
}

// What the ring held when it was asked for, and more where that does not take long.
void RingDrain::answer() {
  uint64_t count = 0;
  (void)!read(wake_.get(), &count, sizeof count);
  bool change = false;
  uint64_t takes = 0;
  {
    const std::lock_guard lock(asking_);
    change = next_ && !has_changed_;
    takes = takes_wanted_;
    if (!change && takes == takes_done_) return;
  }
  for (const uint64_t until = bytes() + kMostBeforeAnswer; bytes() < until && move_full_pages();) {
  }
  if (!failed_) take_rest(kPagesOfRest);
  if (failed_) return;
  const std::lock_guard lock(asking_);
  takes_done_ = takes;
  taken_ = file_.written;
  if (change) {
    std::swap(file_, *next_);
    has_changed_ = true;
  }
  answered_.notify_all();
}

bool RingDrain::fail(std::string what, int error_number) {
  error_ = system_error(file_.path, std::move(what), error_number);
  // Only whole pages count: the last one may have been cut off.
  const auto whole = static_cast<off_t>(file_.written / page_size_ * page_size_);
  if (ftruncate(file_.file.get(), whole) != 0) error_.cause += "; its last page is not whole";
  failed_.store(true, std::memory_order_release);
  return false;
}

// Whether there may be more.
bool RingDrain::move_full_pages() {
  if (failed_) return false;
  const ssize_t size =
      splice(ring_.get(), nullptr, pipe_in_.get(), nullptr, pipe_size_, SPLICE_F_NONBLOCK);
  if (size < 0 && errno != EAGAIN && errno != EINTR) return fail("cannot read the ring", errno);
  if (size <= 0) return false;
  for (ssize_t left = size; left > 0;) {
    const ssize_t moved = splice(pipe_out_.get(), nullptr, file_.file.get(), nullptr,
                                 static_cast<size_t>(left), SPLICE_F_MOVE);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return fail("cannot write", errno);
    left -= moved;
    file_.written += static_cast<uint64_t>(moved);
    bytes_.fetch_add(static_cast<uint64_t>(moved), std::memory_order_relaxed);
  }
  return true;
}

// What splice leaves: a page that is not full. Written as a page, the rest of it zero.
bool RingDrain::take_rest(size_t most_pages) {
  std::vector<char> page(page_size_);
  while (most_pages-- > 0) {
    // Not read() and write(), which everybody uses: whoever leaves our threads out of a trace by
    // the calls they make has fewer tasks to look at.
    const iovec whole{page.data(), page.size()};
    const ssize_t size = preadv2(ring_.get(), &whole, 1, -1, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != EAGAIN) return fail("cannot read the ring", errno);
    if (size <= 0) return true;
    std::fill(page.begin() + size, page.end(), '\0');
    for (size_t done = 0; done < page.size();) {
      const iovec rest{page.data() + done, page.size() - done};
      const ssize_t written = pwritev2(file_.file.get(), &rest, 1, -1, 0);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return fail("cannot write", errno);
      done += static_cast<size_t>(written);
    }
    file_.written += page.size();
    bytes_.fetch_add(page.size(), std::memory_order_relaxed);
  }
  return true;
}

Status RingDrain::finish() {
  stopping_ = true;
  wake();
  thread_.join();
  while (move_full_pages()) {
  }
  if (!failed_) take_rest(kAllPages);
  ring_.reset();
  if (failed_) return error_;
  file_.trim();
  return {};
}

}  // namespace strata::kernel
