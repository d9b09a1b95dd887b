// SPDX-License-Identifier: Apache-2.0
#include "collect/ring_reader.h"

#include "probe/load_order.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

uint64_t load_word(Bytes memory, uint64_t offset) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(memory.data() + offset),
                         __ATOMIC_ACQUIRE);
}

}  // namespace

std::optional<RecordContexts> RecordContexts::read(Bytes bytes) {
  RecordContexts read;
  if (bytes.size() < sizeof read.mask) return std::nullopt;
  std::memcpy(&read.mask, bytes.data(), sizeof read.mask);
  if ((read.mask & ~abi::kAllContexts) != 0 || bytes.size() < abi::context_size(read.mask))
    return std::nullopt;
  const std::byte* at = bytes.data() + sizeof read.mask;
  const auto take = [&](uint32_t context, auto& value) {
    if ((read.mask & context) == 0) return;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
  };
  take(abi::kTidContext, read.tid);
  take(abi::kNameContext, read.name);
  take(abi::kCpuContext, read.cpu);
  for (size_t counter = 0; counter < abi::kCounters; ++counter)
    take(abi::counter_context(counter), read.counts[counter]);
  return read;
}

RingReader::RingReader(const RingLayout& layout, uint32_t ring)
    : layout_(layout),
      control_(layout.controls() + uint64_t{ring} * sizeof(abi::RingControl)),
      data_(layout.data() + (uint64_t{ring} << layout.capacity_log2)),
      block_(layout.block()) {}

void RingReader::start_at(Bytes memory, uint64_t position, bool from_now) {
  position_ = position;
  if (position == 0) return;
  const uint32_t clock =
      load_once<uint32_t>(memory.data() + offsetof(abi::Header, clock)) & abi::kClockMask;
  if (clock <= static_cast<uint32_t>(abi::Clock::MonotonicRaw)) clock_ = abi::Clock{clock};
  // The block up to there tells its clock, and what was lost before; unless the program has begun
  // to write over it.
  const uint64_t begin = (position - 1) / layout_.block() * layout_.block();
  const uint64_t size = position - begin;
  std::memcpy(block_.data(), memory.data() + data_ + begin % layout_.capacity(), size);
  piece_ = Bytes(block_.data(), size);
  piece_position_ = begin;
  piece_begins_block_ = true;
  struct Nobody {
    void record(const RingRecord&) {}
    void lost(uint64_t) {}
  };
  Nobody nobody;
  walk(nobody);
  told_is_unknown_ = damaged_ > 0;
  if (!from_now) return;
  told_ = load_word(memory, control_ + offsetof(abi::RingControl, lost));
  told_is_unknown_ = false;
  damaged_ = 0;
}

bool RingReader::is_overtaken(Bytes memory, uint64_t position) const {
  probe::keep_loads_in_order();  // the head after what was copied
  return position < layout_.oldest(load_word(memory, control_ + offsetof(abi::RingControl, head)));
}

bool RingReader::next_piece(Bytes memory) {
  while (!broken_) {
    // Before the head: what is lost later than it is told of the next time.
    lost_now_ = load_word(memory, control_ + offsetof(abi::RingControl, lost));
    const uint64_t head = load_word(memory, control_ + offsetof(abi::RingControl, head));
    position_ = std::max(position_, layout_.oldest(head));
    if (head == position_) return false;
    // The head only grows, and not beyond what there is room for.
    broken_ = head < position_ || head - position_ > layout_.capacity() || head % abi::kUnit != 0;
    if (broken_) return false;
    const uint64_t in_block = position_ % layout_.block();
    const uint64_t size = std::min(head - position_, layout_.block() - in_block);
    std::memcpy(block_.data(), memory.data() + data_ + position_ % layout_.capacity(), size);
    if (is_overtaken(memory, position_)) continue;
    piece_ = Bytes(block_.data(), size);
    piece_position_ = position_;
    piece_begins_block_ = in_block == 0;
    position_ += size;
    return true;
  }
  return false;
}

}  // namespace strata::collect
