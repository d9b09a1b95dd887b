// SPDX-License-Identifier: Apache-2.0
#include "live/task_rows.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace strata::live {
namespace {

using period::Column;

const uint64_t kPage = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));

bool is_busy(Doing doing) { return doing <= kWaitsForCpu; }

void describe(const TaskSlot& slot, period::TaskRow& row) {
  row.pid = slot.pid;
  if (slot.parent > 0) row.parent = slot.parent;
  row.tid = slot.tid;
  row.name.assign(slot.name, strnlen(slot.name, kNameSize));
  row.user = slot.user;
  row.is_kernel = slot.is_kernel != 0;
  if (slot.cpu >= 0) row.cpu = static_cast<uint32_t>(slot.cpu);
  row.values.set(Column::Memory, slot.memory_pages * kPage);
}

void tell_end(uint32_t code, period::TaskRow& row) {
  row.has_ended = true;
  constexpr uint32_t kSignal = 0x7f;
  if ((code & kSignal) != 0)
    row.exit_signal = code & kSignal;
  else
    row.exit_code = code >> 8 & 0xff;
}

}  // namespace

TaskRows::TaskRows(const Memory& memory, CgroupNames& cgroups)
    : memory_(memory), cgroups_(cgroups) {
  for (uint32_t i = 0; i < memory_.free_slots.size(); ++i) memory_.free_slots[i] = i;
  memory_.control->taken = 0;
  __atomic_store_n(&memory_.control->freed, memory_.free_slots.size(), __ATOMIC_RELEASE);
}

void TaskRows::find_new() {
  const uint64_t taken = load(memory_.control->taken);
  for (; seen_ < taken; ++seen_) {
    const auto index = static_cast<uint32_t>(memory_.free_slots[seen_ % memory_.free_slots.size()]);
    if (index < memory_.tasks.size()) known_.push_back({.index = index});
  }
}

void TaskRows::free(uint32_t index) {
  TaskSlot& slot = memory_.tasks[index];
  if (counters_ != nullptr) counters_->forget(index);
  slot.tid = 0;
  slot.is_gone = 0;
  auto& freed = memory_.control->freed;
  memory_.free_slots[freed % memory_.free_slots.size()] = index;
  __atomic_store_n(&freed, freed + 1, __ATOMIC_RELEASE);
}

bool TaskRows::is_unchanged(const Known& known) const {
  const TaskSlot& slot = memory_.tasks[known.index];
  return known.was_told && !is_busy(known.state) && load(slot.version) == known.slot.version &&
         load(slot.woken_at) == known.slot.woken_at &&
         (counters_ == nullptr || !counters_->has_news(known.index));
}

void TaskRows::copy() {
  find_new();
  for (Known& known : known_) {
    known.is_copied = known.is_copied || !is_unchanged(known);
    if (known.is_copied) known.copy = copy_of(memory_.tasks[known.index]);
  }
}

void TaskRows::begin(uint64_t moment) {
  for (Known& known : known_) {
    known.was_told_as_ended = known.copy.has_ended != 0;
    if (known.copy.tid != 0) look_at(known, moment);
  }
  edge_ = moment;
}

void TaskRows::tell(uint64_t end, int64_t offset, bool tells_calls,
                    std::vector<period::TaskRow>& rows) {
  std::erase_if(known_, [&](Known& known) {
    if (!std::exchange(known.is_copied, false)) return false;
    period::TaskRow row;
    // One without a task is not filled in yet, or was given up.
    if (known.copy.tid != 0 && tell(known, end, offset, tells_calls, row))
      rows.push_back(std::move(row));
    if (known.copy.is_gone == 0) return false;
    free(known.index);
    return true;
  });
  edge_ = end;
}

void TaskRows::look_at(Known& known, uint64_t moment) {
  known.was_there = true;
  known.slot = known.copy;
  known.state = TaskSums::at(known.slot, moment).doing;
}

bool TaskRows::tell(Known& known, uint64_t end, int64_t offset, bool tells_calls,
                    period::TaskRow& row) {
  const TaskSlot& slot = known.copy;
  describe(slot, row);
  row.start = static_cast<int64_t>(slot.start) + offset;
  cgroups_.name(slot, row);
  row.was_born = !known.was_there && slot.was_born != 0;
  if (slot.has_ended != 0 && !std::exchange(known.was_told_as_ended, true))
    tell_end(slot.exit_code, row);
  // One that there was no room for so far begins with what it has now, but for its times.
  if (!known.was_there && !row.was_born) {
    known.slot = slot;
    known.slot.preemptions = known.slot.sleeps = known.slot.migrations = known.slot.wakeups = 0;
  }
  // Nothing has changed since the slot was copied, so what it was at the edge follows.
  const TaskSums before = known.was_there ? TaskSums::at(known.slot, edge_) : TaskSums{};
  const TaskSums sums = TaskSums::at(slot, end);
  put_difference(known.slot, before, slot, sums, tells_calls, row.values);
  if (known.was_there) row.state_before = column_of(before.doing, row.is_kernel);
  if (sums.doing != kIsDead) row.state = column_of(sums.doing, row.is_kernel);
  const bool has_counted = counters_ != nullptr && counters_->tell(known.index, row.values);
  const bool is_news = !std::exchange(known.was_told, true) || row.has_ended || has_counted ||
                       known.slot.version != slot.version || before.doing != sums.doing ||
                       is_busy(sums.doing);
  look_at(known, end);
  return is_news;
}

}  // namespace strata::live
