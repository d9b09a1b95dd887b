// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/byte_writer.h"

namespace strata::test {

// A page of the kernel's ring buffer, put down record by record as include/linux/ring_buffer.h
// defines it, sense or nonsense alike. Not the project's own builder: this is what decoders are
// held against.
class RingPageMaker {
 public:
  explicit RingPageMaker(uint64_t time, ByteOrder order = ByteOrder::Little, unsigned long_size = 8)
      : time_(time), order_(order), long_size_(long_size), records_(order) {}

  // 32 bits: type_len in the low 5 of them and the delta above, or, on big-endian machines,
  // type_len in the top 5 and the delta below: the compiler's layout of the kernel's bit fields.
  RingPageMaker& head(uint32_t type_len, uint32_t delta) {
    records_.u32(order_ == ByteOrder::Little ? delta << 5 | type_len : type_len << 27 | delta);
    return *this;
  }
  RingPageMaker& word(uint32_t value) {
    records_.u32(value);
    return *this;
  }
  // A record of up to 112 bytes.
  RingPageMaker& data(uint32_t delta, Bytes payload) {
    return head(static_cast<uint32_t>((payload.size() + 3) / 4), delta).padded(payload);
  }
  // A record of any size: its length, which counts itself, stands before the payload.
  RingPageMaker& long_data(uint32_t delta, Bytes payload) {
    return head(0, delta).word(static_cast<uint32_t>(payload.size() + 4)).padded(payload);
  }
  RingPageMaker& time_extend(uint64_t step) {
    return head(30, step & kDeltaMask).word(static_cast<uint32_t>(step >> 27));
  }
  RingPageMaker& time_stamp(uint64_t time) {
    return head(31, time & kDeltaMask).word(static_cast<uint32_t>(time >> 27));
  }
  // A record of `size` payload bytes that was given back.
  RingPageMaker& discarded(uint32_t delta, uint32_t size) {
    head(29, delta).word(size);
    for (uint32_t i = 4; i < size; ++i) records_.u8(0xee);
    return *this;
  }
  RingPageMaker& end_of_page() { return head(29, 0); }

  RingPageMaker& lost() {
    flags_ |= uint64_t{1} << 31;
    return *this;
  }
  RingPageMaker& lost(uint64_t count) {
    flags_ |= uint64_t{3} << 30;
    lost_count_ = count;
    counted_ = true;
    return *this;
  }
  // Instead of the true number of bytes.
  RingPageMaker& commit(uint64_t value) {
    commit_ = value;
    lies_ = true;
    return *this;
  }

  uint64_t records_size() const { return records_.size(); }

  std::vector<std::byte> page(size_t size = 4096) const {
    ByteWriter out(order_);
    out.u64(time_);
    put_long(out, (lies_ ? commit_ : records_.size()) | flags_);
    out.raw(records_.bytes());
    if (counted_) put_long(out, lost_count_);
    std::vector<std::byte> bytes = std::move(out).bytes();
    bytes.resize(size);
    return bytes;
  }

 private:
  static constexpr uint64_t kDeltaMask = (1u << 27) - 1;

  RingPageMaker& padded(Bytes payload) {
    records_.raw(payload);
    while (records_.size() % 4 != 0) records_.u8(0);
    return *this;
  }
  void put_long(ByteWriter& out, uint64_t value) const {
    if (long_size_ == 8)
      out.u64(value);
    else
      out.u32(static_cast<uint32_t>(value));
  }

  uint64_t time_;
  ByteOrder order_;
  unsigned long_size_;
  ByteWriter records_;
  uint64_t flags_ = 0;
  uint64_t lost_count_ = 0;
  bool counted_ = false;
  uint64_t commit_ = 0;
  bool lies_ = false;
};

}  // namespace strata::test
