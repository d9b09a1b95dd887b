// SPDX-License-Identifier: Apache-2.0
#include "state/statistics.h"

#include <utility>

namespace strata::state {
namespace {

constexpr unsigned kFirstBits = 10;
constexpr uint32_t kNoSlot = UINT32_MAX;

}  // namespace

Statistics::Statistics()
    : places_(size_t{1} << kFirstBits, kNoSlot),
      places_shift_(64 - kFirstBits),
      counts_(size_t{1} << kFirstBits),
      counts_shift_(64 - kFirstBits) {}

uint64_t Statistics::hash_of(const Slot& slot) {
  return (uint64_t{slot.task} << 32 | slot.submode) * 0xff51afd7ed558ccdu ^
         (uint64_t{slot.cpu} << 8 | static_cast<uint8_t>(slot.mode));
}

uint32_t Statistics::find(TaskId task, CpuIndex cpu, Mode mode, NameId submode) {
  const Slot wanted{.task = task, .cpu = cpu, .mode = mode, .submode = submode};
  size_t i = home(hash_of(wanted), places_shift_);
  for (; places_[i] != kNoSlot; i = (i + 1) & (places_.size() - 1))
    if (slots_[places_[i]].same_place(wanted)) return places_[i];
  const auto slot = static_cast<uint32_t>(slots_.size());
  places_[i] = slot;
  slots_.push_back(wanted);
  if (slots_.size() * 2 > places_.size()) grow_slots();
  return slot;
}

void Statistics::grow_slots() {
  places_.assign(places_.size() * 2, kNoSlot);
  --places_shift_;
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    size_t i = home(hash_of(slots_[slot]), places_shift_);
    while (places_[i] != kNoSlot) i = (i + 1) & (places_.size() - 1);
    places_[i] = slot;
  }
}

void Statistics::add_count(uint64_t key, size_t i) {
  counts_[i] = {key, 1};
  if (++counts_used_ * 2 <= counts_.size()) return;
  const std::vector<Counted> old = std::exchange(counts_, std::vector<Counted>(counts_.size() * 2));
  --counts_shift_;
  for (const Counted& counted : old) {
    if (counted.key == kEmpty) continue;
    size_t at = home(counted.key, counts_shift_);
    while (counts_[at].key != kEmpty) at = (at + 1) & (counts_.size() - 1);
    counts_[at] = counted;
  }
}

std::vector<EventCount> Statistics::counts() const {
  std::vector<EventCount> all;
  for (const Counted& counted : counts_) {
    if (counted.key != kEmpty && counted.count != 0)
      all.push_back({static_cast<uint32_t>(counted.key >> 32), static_cast<uint32_t>(counted.key),
                     counted.count});
  }
  return all;
}

void Statistics::reset() {
  for (Slot& slot : slots_) slot.cpu_ns = slot.elapsed_ns = slot.cumulative_ns = 0;
  for (Counted& counted : counts_) counted.count = 0;
}

}  // namespace strata::state
