// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <vector>

#include "collect/ring_memory.h"

namespace strata::test {

// The bytes of a ring memory, made by hand after probe/abi.h: what a program would have left.
class RingMaker {
 public:
  explicit RingMaker(const collect::RingLayout& layout) : layout_(layout), bytes_(layout.size()) {}

  Bytes bytes() const { return bytes_; }
  std::vector<std::byte>& raw() { return bytes_; }
  uint64_t head() const { return head_; }

  void open_block(uint64_t lost = 0, probe::abi::Clock clock = probe::abi::Clock::Tsc) {
    using namespace probe::abi;
    const uint64_t left = layout_.block() - head_ % layout_.block();
    if (left != layout_.block()) {
      if (left >= 16) put<uint32_t>(head_ + 8, make_word(kPadId, 16));
      head_ += left;
    }
    put(head_, Block{time_++, make_word(kBlockId, sizeof(Block)), clock, head_, lost});
    move_head(sizeof(Block));
  }
  void tell_lost(uint64_t lost) {
    using namespace probe::abi;
    put(head_, Lost{time_++, make_word(kLostId, sizeof(Lost)), 0, lost});
    move_head(sizeof(Lost));
  }
  void add(uint32_t id, uint32_t value) {
    using namespace probe::abi;
    if (head_ % layout_.block() == 0 || layout_.block() - head_ % layout_.block() < 16)
      open_block();
    put(head_, time_++);
    put<uint32_t>(head_ + 8, make_word(id, 16));
    put<uint32_t>(head_ + 12, value);
    move_head(16);
  }
  void set_lost(uint64_t lost) {
    std::memcpy(control() + offsetof(probe::abi::RingControl, lost), &lost, sizeof lost);
  }
  void set_head(uint64_t head) {
    head_ = head;
    move_head(0);
  }
  template <typename T>
  void put(uint64_t position, const T& value) {
    std::memcpy(bytes_.data() + layout_.data() + position % layout_.capacity(), &value,
                sizeof value);
  }

 private:
  std::byte* control() { return bytes_.data() + layout_.controls(); }
  void move_head(uint64_t by) {
    head_ += by;
    std::memcpy(control() + offsetof(probe::abi::RingControl, head), &head_, sizeof head_);
  }

  collect::RingLayout layout_;
  std::vector<std::byte> bytes_;
  uint64_t head_ = 0;
  uint64_t time_ = 1;
};

}  // namespace strata::test
