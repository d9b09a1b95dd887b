// SPDX-License-Identifier: Apache-2.0
#include "ftrace/ring_page_builder.h"

#include <algorithm>
#include <cstring>

#include "ftrace/ring_page.h"

namespace strata::ftrace {
namespace {

constexpr uint32_t kMaxDelta = (1u << kDeltaBits) - 1;
// What records of time can tell: 27 bits and 32 more.
constexpr unsigned kTimeBits = kDeltaBits + 32;

}  // namespace

RingPageBuilder::RingPageBuilder(uint32_t page_size, Target target)
    : page_(page_size), target_(target), header_(page_header_size(target)) {}

void RingPageBuilder::put32(uint32_t offset, uint32_t value) {
  if (target_.order != kNativeOrder) value = swap_bytes(value);
  std::memcpy(page_.data() + offset, &value, sizeof value);
}

void RingPageBuilder::put64(uint32_t offset, uint64_t value) {
  if (target_.order != kNativeOrder) value = swap_bytes(value);
  std::memcpy(page_.data() + offset, &value, sizeof value);
}

void RingPageBuilder::put_record_head(uint32_t type_len, uint32_t delta) {
  put32(header_ + used_,
        target_.order == ByteOrder::Big ? type_len << kDeltaBits | delta : delta << 5 | type_len);
  used_ += 4;
}

bool RingPageBuilder::add(Ticks ticks, Bytes record) {
  const uint64_t now = raw(ticks);
  const uint64_t padded = std::max<uint64_t>((record.size() + 3) & ~uint64_t{3}, 4);
  const bool is_long = padded > uint64_t{kTypeLenMax} * 4;
  const bool backwards = used_ > 0 && now < last_;
  const uint64_t step = used_ == 0 || backwards ? 0 : now - last_;
  const bool needs_time = backwards || step > kMaxDelta;
  // A stamp's upper bits are those of the time before, or one more, unless that has none; a step
  // has no upper bits at all. Only a page's own time can go further.
  if ((backwards ? last_ : step) >> kTimeBits != 0) return false;

  uint64_t size = 4 + padded + (is_long ? 4 : 0) + (needs_time ? 8 : 0);
  if (lost_ && lost_count_) size += target_.long_size;
  if (size > page_.size() - header_ - used_) return false;

  if (used_ == 0) put64(0, now);
  if (needs_time) {
    // A step is added, a stamp replaces: only that can lead back.
    const uint64_t time = backwards ? now : step;
    put_record_head(backwards ? kTimeStamp : kTimeExtend, static_cast<uint32_t>(time & kMaxDelta));
    put32(header_ + used_, static_cast<uint32_t>(time >> kDeltaBits));
    used_ += 4;
  }
  put_record_head(is_long ? 0 : static_cast<uint32_t>(padded / 4),
                  needs_time ? 0 : static_cast<uint32_t>(step));
  if (is_long) {
    put32(header_ + used_, static_cast<uint32_t>(record.size() + 4));
    used_ += 4;
  }
  std::memcpy(page_.data() + header_ + used_, record.data(), record.size());
  used_ += static_cast<uint32_t>(padded);
  last_ = now;
  return true;
}

void RingPageBuilder::mark_lost(std::optional<uint64_t> count) {
  lost_ = true;
  lost_count_ = count;
}

Bytes RingPageBuilder::finish() {
  uint64_t commit = used_;
  if (lost_) {
    commit |= kLostEvents;
    if (lost_count_) {
      commit |= kLostStored;
      if (target_.long_size == 8)
        put64(header_ + used_, *lost_count_);
      else
        put32(header_ + used_, static_cast<uint32_t>(*lost_count_));
    }
  }
  if (target_.long_size == 8)
    put64(8, commit);
  else
    put32(8, static_cast<uint32_t>(commit));

  finished_.assign(page_.size(), std::byte{0});
  finished_.swap(page_);
  used_ = 0;
  lost_ = false;
  lost_count_.reset();
  return finished_;
}

}  // namespace strata::ftrace
