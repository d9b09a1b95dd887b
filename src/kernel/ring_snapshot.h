// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "base/units.h"
#include "kernel/instance.h"

namespace strata::kernel {

// What one CPU's ring held at one moment: its pages as the tracer hands them out (see
// ftrace::RingPage), oldest first, without a mark of what was lost before the first of them. That
// older events were overwritten is how such a ring works, and no loss.
struct RingCopy {
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte[], Free> memory;
  Bytes pages;               // within `memory`
  bool overwritten = false;  // whether there had been older ones; not known to copy_ring()
};

constexpr Ticks kEverything{~uint64_t{0}};

// A copy of a ring that is being written meanwhile. `sub_buffers` are all of it, one behind the
// other, in any order; at the address of an 8-byte number. Nothing is taken out of the ring, and
// the writer does not notice.
//
// The copy ends at `until`: it has what had been committed by then, of the page that is being
// written too. It is made from the newest page to the oldest, against the direction in which the
// writer overwrites them: so what is overwritten meanwhile is always the copy's beginning, and
// never a hole in it.
RingCopy copy_ring(Bytes sub_buffers, uint32_t page_size, Ticks until);

// One CPU's ring, mapped; since Linux 6.10. While it is, the kernel neither resizes nor swaps it.
class MappedRing {
 public:
  static Result<MappedRing> map(const Instance& instance, uint32_t cpu);
  MappedRing(MappedRing&& other) noexcept;
  MappedRing& operator=(MappedRing&&) noexcept = delete;
  ~MappedRing();

  RingCopy copy(Ticks until) const { return copy_ring(sub_buffers_, page_size_, until); }

 private:
  MappedRing(Bytes sub_buffers, uint32_t page_size)
      : sub_buffers_(sub_buffers), page_size_(page_size) {}

  Bytes sub_buffers_;
  uint32_t page_size_;
};

// Where rings cannot be mapped: takes out what is in one that nobody writes to any more. `file` is
// its trace_pipe_raw, or its snapshot_raw; at most `bytes` of pages are taken.
Result<RingCopy> take_ring(const std::string& file, uint32_t page_size, size_t bytes);

}  // namespace strata::kernel
