// SPDX-License-Identifier: Apache-2.0
#include "collect/reader_slot.h"

#include <fcntl.h>

#include <algorithm>

namespace strata::collect {
namespace abi = probe::abi;
namespace {

using Controls = std::span<abi::RingControl>;

// A program that changes a tail at the same time, which it should not, does not keep us.
constexpr int kAttempts = 8;

// In one order for all that read and write slots: see begin_at_head().
uint64_t load(const uint64_t& from) { return __atomic_load_n(&from, __ATOMIC_SEQ_CST); }
void store(uint64_t& to, uint64_t value) { __atomic_store_n(&to, value, __ATOMIC_SEQ_CST); }

struct flock slots(short type, uint32_t first, uint32_t count) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = first;
  lock.l_len = count;
  return lock;
}

bool lock_slot(int descriptor, uint32_t slot) {
  struct flock lock = slots(F_WRLCK, slot, 1);
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

void unlock_slot(int descriptor, uint32_t slot) {
  struct flock lock = slots(F_UNLCK, slot, 1);
  fcntl(descriptor, F_OFD_SETLK, &lock);
}

// Another reader may be about to move the tail, without having seen this slot. Then it has told
// before how far it is itself, and the tail does not get beyond that: nor do we begin before it.
void begin_at_head(abi::RingControl& control, uint32_t slot) {
  uint64_t begin = load(control.head);
  store(control.taken[slot], 1 + begin);
  begin = std::max(begin, load(control.tail));
  for (const uint64_t& taken : control.taken)
    if (const uint64_t other = load(taken); other != 0) begin = std::max(begin, other - 1);
  store(control.taken[slot], 1 + begin);
}

void begin(Controls controls, uint32_t slot, Begin where) {
  for (abi::RingControl& control : controls) {
    if (where == Begin::Head)
      begin_at_head(control, slot);
    else
      store(control.taken[slot], 1 + (where == Begin::Tail ? load(control.tail) : 0));
  }
}

// Whoever begins wants all, until it says otherwise; nobody wants nothing.
void set_filtering(std::span<uint32_t> filtering, uint32_t slot, uint32_t value) {
  __atomic_store_n(&filtering[slot], value, __ATOMIC_SEQ_CST);
}

void clear(Controls controls, std::span<uint32_t> filtering, uint32_t slot) {
  for (abi::RingControl& control : controls) store(control.taken[slot], 0);
  set_filtering(filtering, slot, abi::kNobody);
}

}  // namespace

ReaderSlot::ReaderSlot(const RingMemory& memory, uint32_t number)
    : controls_(memory.controls()),
      filtering_(memory.filtering()),
      descriptor_(memory.descriptor()),
      number_(number) {}

std::optional<uint32_t> ReaderSlot::claim_for(int descriptor, const RingMemory& memory,
                                              Begin where) {
  for (uint32_t slot = 0; slot < abi::kMaxReaders; ++slot) {
    if (!lock_slot(descriptor, slot)) continue;
    set_filtering(memory.filtering(), slot, abi::kEverything);
    begin(memory.controls(), slot, where);
    return slot;
  }
  return std::nullopt;
}

std::optional<ReaderSlot> ReaderSlot::claim(const RingMemory& memory, Begin where) {
  const std::optional<uint32_t> slot = claim_for(memory.descriptor(), memory, where);
  if (!slot) return std::nullopt;
  return ReaderSlot(memory, *slot);
}

ReaderSlot ReaderSlot::given(const RingMemory& memory, uint32_t number) {
  return ReaderSlot(memory, std::min(number, abi::kMaxReaders - 1));
}

uint64_t ReaderSlot::position(uint32_t ring) const {
  const uint64_t taken = load(controls_[ring].taken[number_]);
  return taken == 0 ? 0 : taken - 1;
}

void ReaderSlot::take(uint32_t ring, uint64_t position) {
  store(controls_[ring].taken[number_], 1 + position);
  move_tail(ring);
}

void ReaderSlot::move_tail(uint32_t ring) {
  abi::RingControl& control = controls_[ring];
  uint64_t least = UINT64_MAX;
  for (const uint64_t& taken : control.taken)
    if (const uint64_t other = load(taken); other != 0) least = std::min(least, other - 1);
  if (least == UINT64_MAX) return;
  uint64_t tail = load(control.tail);
  for (int attempt = 0; attempt < kAttempts && tail < least; ++attempt)
    if (__atomic_compare_exchange_n(&control.tail, &tail, least, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      return;
}

void ReaderSlot::free_dead() {
  for (uint32_t slot = 0; slot < abi::kMaxReaders; ++slot) {
    const auto counts = [&](const abi::RingControl& control) {
      return load(control.taken[slot]) != 0;
    };
    if (slot == number_ || std::ranges::none_of(controls_, counts)) continue;
    if (!lock_slot(descriptor_, slot)) continue;
    clear(controls_, filtering_, slot);
    unlock_slot(descriptor_, slot);
  }
  for (uint32_t ring = 0; ring < controls_.size(); ++ring) move_tail(ring);
}

bool ReaderSlot::leave() {
  clear(controls_, filtering_, number_);
  unlock_slot(descriptor_, number_);
  return !is_read_by_others(descriptor_);
}

bool is_read_by_others(int descriptor) {
  struct flock lock = slots(F_WRLCK, 0, abi::kMaxReaders);
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace strata::collect
