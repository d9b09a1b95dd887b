// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "probe/abi.h"
#include "probe/clock.h"
#include "probe/cpu_ring.h"
#include "probe/state.h"

namespace strata::probe {

// What is done to a ring when a record does not fit before its `end`: the next block is opened,
// losses are told, `end` is moved. Every step is one store that leaves the ring as good as before,
// so that a program may die, or somebody else do the same, between any two.

// One ring, and how its owner changes it. append() and set() do nothing and give false where the
// ring is not as it was: then all starts over.
struct CpuRing {
  const Attachment& on;
  std::byte* rseq;
  uint64_t index;
  abi::RingControl& control;

  bool append(const Append& append) const {
    return append_on_cpu(on, rseq, index, &control.head, append) == Outcome::Done;
  }
  bool set(uint64_t& word, uint64_t head, uint64_t value) const {
    return store_on_cpu(on, rseq, index, &control.head, head, &word, value) == Outcome::Done;
  }
};

// Its owner holds the lock.
struct LockedRing {
  const Attachment& on;
  uint64_t index;
  abi::RingControl& control;

  bool append(const Append& append) const {
    if (append.mark != nullptr) *append.mark = append.word;
    __builtin_memcpy(append.to, append.from, append.size);
    store(control.head, append.head);
    return true;
  }
  bool set(uint64_t& word, uint64_t, uint64_t value) const {
    store(word, value);
    return true;
  }
};

enum class Room : uint8_t { TryAgain, Full };

// Wakes those that read the rings and sleep.
void wake_collectors(const Attachment& on);

template <typename Ring>
Room make_room(const Ring& ring, uint64_t size, abi::Clock clock) {
  const Attachment& on = ring.on;
  abi::RingControl& control = ring.control;
  std::byte* const data = on.data + ring.index * on.capacity;
  const uint64_t head = load(control.head);
  const uint64_t lost = load(control.lost);
  const uint64_t tail = load(control.tail);
  const bool overwrites = on.policy == abi::Policy::Overwrite;
  const uint64_t limit = overwrites ? UINT64_MAX : tail + on.capacity;
  const uint64_t block_begin = head & ~(on.block() - 1);
  const uint64_t block_end = block_begin + on.block();
  const auto place = [&](uint64_t position) { return data + (position & on.mask()); };

  const bool opened = head != block_begin;
  if (opened && head + size <= block_end &&
      reinterpret_cast<const abi::Block*>(place(block_begin))->clock == clock) {
    if (lost != load(control.told)) {
      if (head + sizeof(abi::Lost) + size > limit) return Room::Full;
      if (head + sizeof(abi::Lost) <= block_end) {
        const abi::Lost record{read_clock_ordered(clock),
                               abi::make_word(abi::kLostId, sizeof record), 0, lost};
        if (ring.append({head, head + sizeof record, reinterpret_cast<const std::byte*>(&record),
                         place(head), sizeof record, nullptr, 0, clock}))
          ring.set(control.told, head + sizeof record, lost);
        return Room::TryAgain;
      }
    }
    if (head + size > limit) return Room::Full;
    const uint64_t end = block_end < limit ? block_end : limit;
    ring.set(control.end, head, end | static_cast<uint64_t>(clock));
    return Room::TryAgain;
  }

  const uint64_t begin = opened ? block_end : head;
  if (begin + sizeof(abi::Block) + size > limit) return Room::Full;
  // What remains of the block before gets a mark, where one fits.
  const bool padded = opened && block_end - head >= 2 * abi::kUnit;
  const abi::Block block{read_clock_ordered(clock), abi::make_word(abi::kBlockId, sizeof block),
                         clock, begin, lost};
  if (ring.append(
          {head, begin + sizeof block, reinterpret_cast<const std::byte*>(&block), place(begin),
           sizeof block,
           padded ? reinterpret_cast<uint64_t*>(place(head) + offsetof(abi::Block, word)) : nullptr,
           abi::make_word(abi::kPadId, 2 * abi::kUnit), clock}))
    ring.set(control.told, begin + sizeof block, lost);
  if (!overwrites && head - tail > on.capacity / 2) wake_collectors(on);
  return Room::TryAgain;
}

}  // namespace strata::probe
