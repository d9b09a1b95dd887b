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

bool is_held_by_others(int descriptor, uint32_t first, uint32_t count) {
  struct flock lock = slots(F_WRLCK, first, count);
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
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

void move_tail(abi::RingControl& control) {
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

void begin(Controls controls, uint32_t slot, Begin where) {
  for (abi::RingControl& control : controls) {
    if (where == Begin::Head) {
      begin_at_head(control, slot);
      move_tail(control);  // what lies before was for readers that have left
    } else {
      store(control.taken[slot], 1 + (where == Begin::Tail ? load(control.tail) : 0));
    }
  }
}

// Whoever begins wants all, until it says otherwise; nobody wants nothing.
void set_filtering(std::span<uint32_t> filtering, uint32_t slot, uint32_t value) {
  __atomic_store_n(&filtering[slot], value, __ATOMIC_SEQ_CST);
}

bool has_filtering(const ReaderTable& table, uint32_t policy, uint32_t slot) {
  return __atomic_load_n(&table.filtering[policy][slot], __ATOMIC_SEQ_CST) != abi::kNobody;
}

// Of rings that are not wanted nothing is looked at: to look takes memory.
bool counts(const ReaderTable& table, uint32_t policy, uint32_t slot) {
  if (has_filtering(table, policy, slot)) return true;
  const auto is_taken = [&](const abi::RingControl& control) {
    return load(control.taken[slot]) != 0;
  };
  return table.clock.said().wants(abi::Policy{policy}) &&
         std::ranges::any_of(table.controls[policy], is_taken);
}

bool counts(const ReaderTable& table, uint32_t slot) {
  for (uint32_t policy = 0; policy < abi::kPolicies; ++policy)
    if (counts(table, policy, slot)) return true;
  return false;
}

void clear(ReaderTable& table, uint32_t slot) {
  for (uint32_t policy = 0; policy < abi::kPolicies; ++policy) {
    if (!counts(table, policy, slot)) continue;
    for (abi::RingControl& control : table.controls[policy]) store(control.taken[slot], 0);
    set_filtering(table.filtering[policy], slot, abi::kNobody);
  }
}

// What nobody reads any more is not to be written.
void stop_wanting_unread(ReaderTable& table) {
  for (uint32_t policy = 0; policy < abi::kPolicies; ++policy) {
    table.clock.stop_wanting(abi::Policy{policy}, [&] {
      for (uint32_t slot = 0; slot < abi::kMaxReaders; ++slot)
        if (has_filtering(table, policy, slot)) return true;
      return false;
    });
  }
}

}  // namespace

ReaderSlot::ReaderSlot(const RingMemory& memory, uint32_t number)
    : table_(memory.readers()),
      policy_(memory.layout().policy),
      descriptor_(memory.descriptor()),
      number_(number) {}

std::optional<uint32_t> ReaderSlot::claim_for(int descriptor, const RingMemory& memory,
                                              abi::Policy policy, Begin where) {
  ReaderTable table = memory.readers();
  for (uint32_t slot = 0; slot < abi::kMaxReaders; ++slot) {
    if (!lock_slot(descriptor, slot)) continue;
    clear(table, slot);  // of one that is gone
    begin(table.controls[static_cast<uint32_t>(policy)], slot, where);
    set_filtering(table.filtering[static_cast<uint32_t>(policy)], slot, abi::kEverything);
    table.clock.want(policy);
    return slot;
  }
  return std::nullopt;
}

std::optional<ReaderSlot> ReaderSlot::claim(const RingMemory& memory, Begin where) {
  const std::optional<uint32_t> slot =
      claim_for(memory.descriptor(), memory, memory.layout().policy, where);
  if (!slot) return std::nullopt;
  return ReaderSlot(memory, *slot);
}

ReaderSlot ReaderSlot::given(const RingMemory& memory, uint32_t number) {
  return ReaderSlot(memory, std::min(number, abi::kMaxReaders - 1));
}

uint64_t ReaderSlot::position(uint32_t ring) const {
  const uint64_t taken = load(controls()[ring].taken[number_]);
  return taken == 0 ? 0 : taken - 1;
}

void ReaderSlot::take(uint32_t ring, uint64_t position) {
  store(controls()[ring].taken[number_], 1 + position);
  move_tail(controls()[ring]);
}

void ReaderSlot::free_dead() {
  for (uint32_t slot = 0; slot < abi::kMaxReaders; ++slot) {
    if (slot == number_ || !counts(table_, slot) || !lock_slot(descriptor_, slot)) continue;
    clear(table_, slot);
    unlock_slot(descriptor_, slot);
  }
  stop_wanting_unread(table_);
  for (uint32_t policy = 0; policy < abi::kPolicies; ++policy)
    if (table_.clock.said().wants(abi::Policy{policy}))
      for (abi::RingControl& control : table_.controls[policy]) move_tail(control);
}

bool ReaderSlot::leave() {
  clear(table_, number_);
  stop_wanting_unread(table_);
  unlock_slot(descriptor_, number_);
  return !is_read_by_others(descriptor_);
}

bool is_read_by_others(int descriptor) {
  return is_held_by_others(descriptor, 0, abi::kMaxReaders);
}

Begin begin_of_heir(const RingMemory& memory) {
  const ReaderTable table = memory.readers();
  const abi::Policy policy = memory.layout().policy;
  if (!table.clock.said().wants(policy)) return Begin::Head;
  for (uint32_t slot = 0; slot < abi::kMaxReaders; ++slot)
    if (has_filtering(table, static_cast<uint32_t>(policy), slot) &&
        is_held_by_others(memory.descriptor(), slot, 1))
      return Begin::Head;
  return Begin::Tail;
}

}  // namespace strata::collect
