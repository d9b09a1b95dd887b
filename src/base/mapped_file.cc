// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <limits>
#include <mutex>

#include "base/file_descriptor.h"

namespace strata {

// Regions are handed out and taken back but never freed, so that the handler, which may run in any
// thread at any moment, can walk the list without a lock. begin == 0 marks one that is not in use.
struct MappedFile::Region {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<uint64_t> fault{kNone};
  Region* next = nullptr;

  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  static std::atomic<Region*> all;

  static Region* acquire(uintptr_t begin, uintptr_t end);
  void give_back() { begin.store(0, std::memory_order_release); }

  static void on_sigbus(int number, siginfo_t* info, void* context);
  static void install_handler();
};

std::atomic<MappedFile::Region*> MappedFile::Region::all{nullptr};

namespace {

struct sigaction previous_action;

uint64_t page_size() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

// Only calls that are safe in a signal handler: atomics and mmap, a plain system call on Linux.
void MappedFile::Region::on_sigbus(int number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Region* r = all.load(std::memory_order_acquire); r != nullptr; r = r->next) {
    const uintptr_t begin = r->begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= r->end.load(std::memory_order_acquire))
      continue;
    const uintptr_t page = address & ~(page_size() - 1);
    void* zeros = mmap(reinterpret_cast<void*>(page), page_size(), PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) break;
    uint64_t none = kNone;
    r->fault.compare_exchange_strong(none, page - begin);
    errno = saved_errno;
    return;
  }
  // Not ours: whoever was there before us decides, by default the kernel, which ends the program
  // when the access is repeated.
  if ((previous_action.sa_flags & SA_SIGINFO) != 0 && previous_action.sa_sigaction != nullptr) {
    previous_action.sa_sigaction(number, info, context);
  } else {
    sigaction(SIGBUS, &previous_action, nullptr);
  }
  errno = saved_errno;
}

void MappedFile::Region::install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_size();
    struct sigaction action = {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous_action);
  });
}

MappedFile::Region* MappedFile::Region::acquire(uintptr_t begin, uintptr_t end) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  Region* region = all.load(std::memory_order_relaxed);
  while (region != nullptr && region->begin.load(std::memory_order_relaxed) != 0)
    region = region->next;
  const bool fresh = region == nullptr;
  if (fresh) region = new Region;
  region->fault.store(kNone, std::memory_order_relaxed);
  region->end.store(end, std::memory_order_relaxed);
  region->begin.store(begin, std::memory_order_release);
  if (fresh) {
    region->next = all.load(std::memory_order_relaxed);
    all.store(region, std::memory_order_release);
  }
  return region;
}

std::optional<FileId> FileId::of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_error(path, "cannot open", errno);
  struct stat status;
  if (fstat(file.get(), &status) != 0) return system_error(path, "cannot stat", errno);
  if (S_ISDIR(status.st_mode)) return Error{path, std::nullopt, "is a directory"};
  if (!S_ISREG(status.st_mode)) return Error{path, std::nullopt, "is not a regular file"};
  const auto size = static_cast<size_t>(status.st_size);
  const FileId id{status.st_dev, status.st_ino};
  if (size == 0) return MappedFile(path, id, {}, nullptr);

  Region::install_handler();
  void* at = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (at == MAP_FAILED) return system_error(path, "cannot map", errno);
  const auto begin = reinterpret_cast<uintptr_t>(at);
  const uintptr_t end = (begin + size + page_size() - 1) & ~(page_size() - 1);
  return MappedFile(path, id, {static_cast<const std::byte*>(at), size},
                    Region::acquire(begin, end));
}

MappedFile::MappedFile(std::string path, FileId id, Bytes bytes, Region* region)
    : path_(std::move(path)), id_(id), bytes_(bytes), region_(region) {}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      id_(other.id_),
      bytes_(std::exchange(other.bytes_, {})),
      region_(std::exchange(other.region_, nullptr)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    path_ = std::move(other.path_);
    id_ = other.id_;
    bytes_ = std::exchange(other.bytes_, {});
    region_ = std::exchange(other.region_, nullptr);
  }
  return *this;
}

MappedFile::~MappedFile() { unmap(); }

void MappedFile::unmap() {
  if (region_ == nullptr) return;
  region_->give_back();
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  region_ = nullptr;
}

bool MappedFile::shrank() const {
  return region_ != nullptr && region_->fault.load(std::memory_order_relaxed) != Region::kNone;
}

uint64_t MappedFile::shrank_at() const {
  return region_ == nullptr ? Region::kNone : region_->fault.load(std::memory_order_relaxed);
}

Error MappedFile::shrank_error() const {
  return {path_, shrank_at(), "the file became shorter while it was being read"};
}

}  // namespace strata
