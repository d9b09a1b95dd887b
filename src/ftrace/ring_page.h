// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/bytes.h"
#include "base/units.h"
#include "ftrace/format_file.h"

namespace strata::ftrace {

// The kernel's ring buffer hands out pages ("sub-buffers"):
//
//     u64  time of the page's first record
//     long commit: bytes of records that follow; bit 31: events were lost before this page,
//          bit 30: their number is stored behind the records
//     records ...
//
// A record begins with 32 bits: 5 of type_len and 27 of time since the record before. type_len
//     1..28  data: the payload is type_len x 4 bytes
//     0      data: the next 32 bits are the length, themselves included
//     29     padding: time 0 ends the page; otherwise a record that was discarded
//     30     time extend: the next 32 bits are the upper ones of a long step
//     31     time stamp: likewise, of an absolute time
constexpr unsigned kTypeLenMax = 28;
constexpr unsigned kPadding = 29;
constexpr unsigned kTimeExtend = 30;
constexpr unsigned kTimeStamp = 31;
constexpr unsigned kDeltaBits = 27;
constexpr uint64_t kCommitMask = 0x7ffffff;
constexpr uint64_t kLostEvents = uint64_t{1} << 31;
constexpr uint64_t kLostStored = uint64_t{1} << 30;

constexpr uint32_t page_header_size(Target target) { return 8u + target.long_size; }
// Larger than any sub-buffer a kernel makes; what claims more is damaged.
constexpr uint32_t kMaxPageSize = 16u << 20;

// How far ahead memory is asked for, two lines of a cache. With many streams it is long until a
// page's next step, and no hardware follows so many pages at once. Beyond the page's end the next
// page often lies; what is not there is not fetched.
constexpr size_t kFetchAhead = 128;

// Walks over one page. No allocation, no I/O; every length is read once and checked before it is
// used, since the page may lie in a file that somebody else writes.
class RingPage {
 public:
  enum class Step : uint8_t { Record, End, Corrupt };

  RingPage() = default;
  // Starts at the page's first record. A page that cannot be right gives Corrupt at the first step.
  // `cut_off`: the file ended within the page; then its records are given as far as they go, before
  // Corrupt says so.
  RingPage(Bytes page, Target target, bool cut_off = false);

  Step next() {
    for (;;) {
      const auto left = static_cast<size_t>(end_ - at_);
      if (left < 4) [[unlikely]]
        return at_end(left);
      const uint32_t head = load<uint32_t>(at_, swap_);
      const bool big = swap_ != (kNativeOrder == ByteOrder::Big);
      const unsigned type_len = big ? head >> kDeltaBits : head & 31;
      const uint32_t delta = big ? head & ((1u << kDeltaBits) - 1) : head >> 5;
      if (type_len - 1 < kTypeLenMax) [[likely]] {
        const size_t size = size_t{type_len} * 4;
        if (left - 4 < size) [[unlikely]]
          return corrupt("a record goes beyond the page's data");
        ticks_ += delta;
        record_ = {at_ + 4, size};
        at_ += 4 + size;
        __builtin_prefetch(at_ + kFetchAhead);
        return Step::Record;
      }
      const Step step = special(type_len, delta, left);
      if (step != Step::End) return step;
    }
  }

  // After Step::Record.
  Bytes record() const { return record_; }
  Ticks ticks() const { return Ticks{ticks_}; }

  // After Step::Corrupt: why, and where in the page.
  const char* cause() const { return cause_; }
  uint64_t position() const { return static_cast<uint64_t>(at_ - begin_); }

  // What was lost between the page before and this one.
  bool lost() const { return lost_; }
  bool lost_count_known() const { return lost_count_known_; }
  uint64_t lost_count() const { return lost_count_; }

  Ticks page_ticks() const { return Ticks{page_ticks_}; }
  // Bytes of the page that hold something: its header, its records and a stored count.
  uint64_t bytes_used() const { return bytes_used_; }

 private:
  // Everything but plain small records. End means here: go on.
  Step special(unsigned type_len, uint32_t delta, size_t left);
  Step at_end(size_t left) {
    if (left == 0) return cause_ == nullptr ? Step::End : Step::Corrupt;
    return corrupt("a record's header is cut off");
  }
  Step corrupt(const char* cause) {
    cause_ = cause;
    return Step::Corrupt;
  }

  const std::byte* begin_ = nullptr;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  uint64_t ticks_ = 0;
  Bytes record_;
  bool swap_ = false;
  bool lost_ = false;
  bool lost_count_known_ = false;
  uint64_t lost_count_ = 0;
  uint64_t page_ticks_ = 0;
  uint64_t bytes_used_ = 0;
  const char* cause_ = nullptr;  // set: the page is corrupt here
};

}  // namespace strata::ftrace
