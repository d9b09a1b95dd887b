// SPDX-License-Identifier: Apache-2.0
#include "state/memory.h"

#include <algorithm>

namespace strata::state {
namespace {

constexpr int64_t kHighestOrder = 20;  // more than the kernel has

uint64_t pages_of(int64_t order) {
  return uint64_t{1} << std::clamp<int64_t>(order, 0, kHighestOrder);
}

}  // namespace

void MemoryUse::change(uint64_t space, Kind kind, int64_t bytes) {
  if (space != space_) {
    if (space_ != 0) *this = {};
    space_ = space;
  }
  if (!told_[kind]) told_[kind] = {bytes, bytes};
  told_[kind]->now = bytes;
}

std::optional<uint64_t> MemoryUse::of(Kind kind) const {
  if (!told_[kind]) return std::nullopt;
  return static_cast<uint64_t>(std::max<int64_t>(told_[kind]->now, 0));
}

bool MemoryUse::is_exact() const { return told_[Files] && told_[Own] && told_[Shared]; }

std::optional<uint64_t> MemoryUse::resident() const {
  if (!begin_ && !is_exact()) return std::nullopt;
  Int128 sum = is_exact() ? 0 : *begin_;
  for (const Kind kind : {Files, Own, Shared})
    if (told_[kind]) sum += told_[kind]->now - (is_exact() ? Int128{0} : told_[kind]->first);
  return static_cast<uint64_t>(std::max<int64_t>(saturated(sum), 0));
}

void Memory::allocate(TaskId task, int64_t order) {
  MemoryOfTask& of = tasks_[task];
  ++of.allocations;
  of.pages_allocated += pages_of(order);
}

void Memory::free(TaskId task, int64_t order) {
  MemoryOfTask& of = tasks_[task];
  ++of.frees;
  of.pages_freed += pages_of(order);
}

void Memory::begin_reclaim(TaskId task, int64_t now) { reclaiming_[task] = now; }

void Memory::end_reclaim(TaskId task, int64_t pages, int64_t now) {
  const auto began = reclaiming_.find(task);
  if (began == reclaiming_.end()) return;
  MemoryOfTask& of = tasks_[task];
  of.reclaims.add(now - began->second);
  of.pages_reclaimed += static_cast<uint64_t>(std::max<int64_t>(pages, 0));
  reclaiming_.erase(began);
}

void Memory::change(Tid process, uint64_t space, int64_t kind, int64_t bytes) {
  if (kind < 0 || kind >= MemoryUse::Count_) return;
  if (process == kNoTid) {
    const auto found = spaces_.find(space);
    if (found == spaces_.end()) return;
    process = found->second;
  } else {
    spaces_[space] = process;
  }
  processes_[process].change(space, static_cast<MemoryUse::Kind>(kind), bytes);
}

void Memory::end(Tid process) {
  const auto found = processes_.find(process);
  if (found == processes_.end()) return;
  spaces_.erase(found->second.space());
  processes_.erase(found);
}

// Amounts stay: the kernel tells them whole, not by how much they changed.
void Memory::lose() {
  reclaiming_.clear();
  spaces_.clear();
}

void Memory::reset() { tasks_.clear(); }

const MemoryOfTask& Memory::of(TaskId task) const {
  static const MemoryOfTask kNothing;
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? kNothing : found->second;
}

const MemoryUse* Memory::of_process(Tid process) const {
  const auto found = processes_.find(process);
  return found == processes_.end() ? nullptr : &found->second;
}

}  // namespace strata::state
