// SPDX-License-Identifier: Apache-2.0
//
// RingMemory's copy, for a flight recorder.
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "collect/ring_memory.h"
#include "probe/load_order.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

uint64_t load(const uint64_t& from) { return __atomic_load_n(&from, __ATOMIC_ACQUIRE); }

// Its pages are there when they are touched. (Since Linux 5.14; before, they come as they are.)
void populate(std::byte* start, uint64_t size, int how) { (void)madvise(start, size, how); }

}  // namespace

std::byte* RingMemory::place(uint32_t ring, uint64_t position) const {
  return start_ + layout_.data() + (uint64_t{ring} << layout_.capacity_log2) +
         position % layout_.capacity();
}

Result<RingMemory> RingMemory::copy() const {
  Result<RingMemory> copy = create(layout_, abi::Clock::Tsc);
  if (!copy) return copy;
  for (uint32_t ring = 0; ring <= layout_.rings; ++ring) {
    copy->control(ring).lost = lost(ring);
    if (!is_used(ring)) continue;
    // Who was overtaken has probably been interrupted.
    constexpr int kAttempts = 8;
    for (int i = 0; i < kAttempts && !copy_ring(ring, *copy); ++i) {
    }
  }
  // After the rings: it explains all that was in them.
  const uint32_t used = std::min(__atomic_load_n(&header().dictionary_used, __ATOMIC_ACQUIRE),
                                 layout_.dictionary_size);
  std::memcpy(copy->start_ + layout_.dictionary(), start_ + layout_.dictionary(), used);
  copy->header().dictionary_used = used;
  copy->header().lost = lost_outside();
  return copy;
}

// The newest block first, against the direction in which the program overwrites them: where that is
// faster, what was copied so far is all there is. False: much less than the ring held.
bool RingMemory::copy_ring(uint32_t ring, RingMemory& to) const {
  const uint64_t block = layout_.block();
  // Whoever stops for pages on the way is overtaken.
  const uint64_t extent = std::min(load(control(ring).head), layout_.capacity());
  populate(place(ring, 0), extent, MADV_POPULATE_READ);
  populate(to.place(ring, 0), extent, MADV_POPULATE_WRITE);

  const uint64_t head = load(control(ring).head);
  const uint64_t oldest = layout_.oldest(head);
  to.control(ring).head = 0;
  uint64_t begin = head;  // what lies behind was copied
  while (begin > oldest) {
    const uint64_t at = (begin - 1) / block * block;
    std::memcpy(to.place(ring, at), place(ring, at), begin - at);
    probe::keep_loads_in_order();  // the head after what was copied
    if (at < layout_.oldest(load(control(ring).head))) break;
    begin = at;
  }
  if (begin == head) return head == 0;
  // The copy's reader begins at the oldest block: those that are gone hold nothing.
  for (uint64_t at = oldest; at < begin; at += block) {
    abi::Block empty{};
    std::memcpy(&empty.time, to.place(ring, begin), sizeof empty.time);
    empty.word = abi::make_word(abi::kBlockId, sizeof empty);
    empty.position = at;
    std::memcpy(to.place(ring, at), &empty, sizeof empty);
    const uint32_t pad = abi::make_word(abi::kPadId, 2 * abi::kUnit);
    std::memcpy(to.place(ring, at) + sizeof empty + offsetof(abi::RecordHead, word), &pad,
                sizeof pad);
  }
  to.control(ring).head = head;
  return begin - oldest <= (head - oldest) / 4;
}

std::optional<uint64_t> RingMemory::begin() const {
  std::optional<uint64_t> begin;
  for (uint32_t ring = 0; ring <= layout_.rings; ++ring) {
    const uint64_t oldest = layout_.oldest(load(control(ring).head));
    if (oldest == 0) continue;
    const auto* block = reinterpret_cast<const uint64_t*>(place(ring, oldest));
    begin = std::max(begin.value_or(0), load(*block));  // its first word is its time
  }
  return begin;
}

uint64_t RingMemory::used_bytes() const {
  struct stat memory {};
  constexpr uint64_t kUnit = 512;  // of st_blocks, whatever the file system's is
  return fstat(descriptor_.get(), &memory) == 0 ? static_cast<uint64_t>(memory.st_blocks) * kUnit
                                                : 0;
}

}  // namespace strata::collect
