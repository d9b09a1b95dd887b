// SPDX-License-Identifier: Apache-2.0
#include "ftrace/ring_page.h"

namespace strata::ftrace {

RingPage::RingPage(Bytes page, Target target, bool cut_off)
    : begin_(page.data()),
      at_(page.data()),
      end_(page.data()),
      swap_(target.order != kNativeOrder) {
  const uint32_t header = page_header_size(target);
  if (page.size() < header) {
    cause_ = "the page is cut off";
    return;
  }
  page_ticks_ = ticks_ = load<uint64_t>(at_, swap_);
  const uint64_t commit = target.long_size == 8 ? load<uint64_t>(at_ + 8, swap_)
                                                : uint64_t{load<uint32_t>(at_ + 8, swap_)};
  const uint64_t capacity = page.size() - header;
  uint64_t size = commit & kCommitMask;
  at_ += header;
  if (size > capacity) {
    cause_ = cut_off ? "the page is cut off" : "the page says that it holds more than it can";
    size = cut_off ? capacity : 0;
  }
  end_ = at_ + size;
  bytes_used_ = header + size;
  if ((commit & kLostEvents) != 0) {
    lost_ = true;
    if ((commit & kLostStored) != 0 && capacity - size >= target.long_size) {
      lost_count_ = target.long_size == 8 ? load<uint64_t>(end_, swap_)
                                          : uint64_t{load<uint32_t>(end_, swap_)};
      lost_count_known_ = true;
      bytes_used_ += target.long_size;
    }
  }
}

RingPage::Step RingPage::special(unsigned type_len, uint32_t delta, size_t left) {
  if (type_len == kPadding && delta == 0) {
    at_ = end_;
    return Step::End;
  }
  if (left < 8) return corrupt("a record's length is cut off");
  const uint32_t word = load<uint32_t>(at_ + 4, swap_);
  switch (type_len) {
    case kTimeExtend:
      ticks_ += (uint64_t{word} << kDeltaBits) + delta;
      at_ += 8;
      return Step::End;
    case kTimeStamp: {
      // 59 bits are stored; the upper five are those of the time before, or one more.
      constexpr uint64_t kStored = uint64_t{1} << 59;
      uint64_t ticks = ((uint64_t{word} << kDeltaBits) + delta) | (ticks_ & ~(kStored - 1));
      if (ticks < ticks_ && (ticks_ & ~(kStored - 1)) != 0) ticks += kStored;
      ticks_ = ticks;
      at_ += 8;
      return Step::End;
    }
    case kPadding:
      // A record that was discarded after others had been stamped behind it: its time counts,
      // except for the 1 that the kernel writes where there was none.
      if (left - 4 < word || word < 4) return corrupt("a discarded record goes beyond the page");
      if (delta != 1) ticks_ += delta;
      at_ += 4 + size_t{word};
      return Step::End;
    default: {
      if (word < 4 || left - 4 < word) return corrupt("a long record goes beyond the page's data");
      const size_t padded = (size_t{word} + 3) & ~size_t{3};
      ticks_ += delta;
      record_ = {at_ + 8, size_t{word} - 4};
      at_ += 4 + (left - 4 < padded ? left - 4 : padded);
      return Step::Record;
    }
  }
}

}  // namespace strata::ftrace
