// SPDX-License-Identifier: Apache-2.0
#include "kernel/ring_snapshot.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "ftrace/ring_page.h"
#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

constexpr ftrace::Target kThisMachine{kNativeOrder, sizeof(long)};
constexpr uint32_t kHeader = ftrace::page_header_size(kThisMachine);

// What the first mapped page tells, from the kernel's <linux/trace_mmap.h>, which is younger than
// the headers that this may be built with.
struct RingMeta {
  uint32_t meta_page_size;
  uint32_t meta_struct_len;
  uint32_t subbuf_size;
  uint32_t nr_subbufs;
  // What follows is of no use here: the kernel brings it up to date only for who takes pages out.
};

// In the ring, the kernel writes these while we read: first the records, then how many bytes of
// them there are; and when it begins to fill a page anew, zero bytes, the new time, the records.
uint64_t time_of(const std::byte* page) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(page), __ATOMIC_ACQUIRE);
}

// Zero where it cannot be.
uint64_t committed(const std::byte* page, uint32_t page_size) {
  const uint64_t size =
      __atomic_load_n(reinterpret_cast<const unsigned long*>(page + 8), __ATOMIC_ACQUIRE) &
      ftrace::kCommitMask;
  return size <= page_size - kHeader ? size : 0;
}

void set_committed(std::byte* page, uint32_t page_size, uint64_t size) {
  const auto commit = static_cast<unsigned long>(size);
  std::memcpy(page + 8, &commit, sizeof commit);
  std::memset(page + kHeader + size, 0, page_size - kHeader - size);
}

// False: the page holds something else by now.
bool copy_page(const std::byte* from, uint64_t time, uint32_t page_size, std::byte* to) {
  const uint64_t size = committed(from, page_size);
  if (size == 0) return false;
  std::memcpy(to + kHeader, from + kHeader, size);
  // A record that came after the page had begun anew was written after its new time.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (time_of(from) != time) return false;
  std::memcpy(to, &time, sizeof time);
  set_committed(to, page_size, size);
  return true;
}

// Leaves out what is younger. Whether anything is left.
bool end_at(std::byte* page, uint32_t page_size, Ticks until) {
  ftrace::RingPage records({page, page_size}, kThisMachine);
  uint64_t end = kHeader;
  while (records.next() == ftrace::RingPage::Step::Record && records.ticks() <= until)
    end = records.position();
  set_committed(page, page_size, end - kHeader);
  return end > kHeader;
}

// In huge pages where the system has them: to copy into small ones takes longer for their faults
// than for the copying, and the writer does not wait.
std::byte* large_memory(size_t size) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t huge = (size + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = size < kHugePage ? std::malloc(size + 1) : std::aligned_alloc(kHugePage, huge);
  if (memory == nullptr) throw std::bad_alloc();
  if (size >= kHugePage) madvise(memory, huge, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

FileDescriptor open_ring(const std::string& path) {
  const Privilege privilege{Capability::DacOverride};
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

struct Page {
  uint64_t time;
  const std::byte* at;
};

std::vector<Page> pages_until(Bytes sub_buffers, uint32_t page_size, Ticks until) {
  std::vector<Page> pages;
  for (size_t at = 0; at + page_size <= sub_buffers.size(); at += page_size) {
    const std::byte* page = sub_buffers.data() + at;
    const uint64_t time = time_of(page);
    if (committed(page, page_size) > 0 && time <= raw(until)) pages.push_back({time, page});
  }
  std::ranges::stable_sort(pages, {}, &Page::time);
  return pages;
}

}  // namespace

RingCopy copy_ring(Bytes sub_buffers, uint32_t page_size, Ticks until) {
  const std::vector<Page> pages = pages_until(sub_buffers, page_size, until);
  RingCopy copy;
  const size_t size = pages.size() * page_size;
  copy.memory.reset(large_memory(size));
  std::byte* begin = copy.memory.get() + size;
  std::byte* end = begin;
  for (size_t i = pages.size(); i-- > 0;) {
    if (!copy_page(pages[i].at, pages[i].time, page_size, begin - page_size)) break;
    begin -= page_size;
    if (begin + page_size == end && !end_at(begin, page_size, until)) end = begin;
  }
  copy.pages = {begin, static_cast<size_t>(end - begin)};
  return copy;
}

Result<MappedRing> MappedRing::map(const Instance& instance, uint32_t cpu) {
  const std::string path = instance.cpu_file(cpu, "trace_pipe_raw");
  const FileDescriptor file = open_ring(path);
  if (!file) return system_error(path, "cannot open", errno);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* meta_page = mmap(nullptr, page, PROT_READ, MAP_SHARED, file.get(), 0);
  if (meta_page == MAP_FAILED) return system_error(path, "cannot be mapped", errno);
  RingMeta meta;
  std::memcpy(&meta, meta_page, sizeof meta);
  const size_t size = size_t{meta.nr_subbufs} * meta.subbuf_size;
  void* data = MAP_FAILED;
  // The kernel's answer is checked all the same: what follows relies on it.
  const bool is_right = meta.meta_struct_len >= sizeof meta && meta.meta_page_size % page == 0 &&
                        meta.subbuf_size == instance.page_size() && meta.nr_subbufs > 0;
  if (is_right)
    data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(),
                static_cast<off_t>(meta.meta_page_size));
  const int problem = errno;
  munmap(meta_page, page);
  if (!is_right) return Error{path, std::nullopt, "tells of a ring that cannot be"};
  if (data == MAP_FAILED) return system_error(path, "cannot be mapped", problem);
  return MappedRing({static_cast<const std::byte*>(data), size}, meta.subbuf_size);
}

MappedRing::MappedRing(MappedRing&& other) noexcept
    : sub_buffers_(std::exchange(other.sub_buffers_, {})), page_size_(other.page_size_) {}

MappedRing::~MappedRing() {
  if (!sub_buffers_.empty())
    munmap(const_cast<std::byte*>(sub_buffers_.data()), sub_buffers_.size());
}

Result<RingCopy> take_ring(const std::string& path, uint32_t page_size, size_t bytes) {
  const FileDescriptor file = open_ring(path);
  if (!file) return system_error(path, "cannot open", errno);
  RingCopy copy;
  bytes -= bytes % page_size;
  copy.memory.reset(large_memory(bytes));
  size_t size = 0;
  while (size < bytes) {
    std::byte* page = copy.memory.get() + size;
    const ssize_t got = read(file.get(), page, page_size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno != EAGAIN) return system_error(path, "cannot read the ring", errno);
    if (got < static_cast<ssize_t>(kHeader)) break;
    std::memset(page + got, 0, page_size - static_cast<size_t>(got));
    if (size == 0) {
      unsigned long commit;
      std::memcpy(&commit, page + 8, sizeof commit);
      copy.overwritten = (commit & ftrace::kLostEvents) != 0;
      set_committed(page, page_size, committed(page, page_size));
    }
    size += page_size;
  }
  copy.pages = {copy.memory.get(), size};
  return copy;
}

}  // namespace strata::kernel
