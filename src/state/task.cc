// SPDX-License-Identifier: Apache-2.0
#include "state/task.h"

namespace strata::state {

std::string_view name_of(MigrationCause cause) {
  constexpr std::array<std::string_view, static_cast<size_t>(MigrationCause::Count_)> kNames = {
      "", "wake-up", "balance", "affinity"};
  return kNames[static_cast<size_t>(cause)];
}

TaskId Tasks::add_idle(int64_t born) {
  const auto id = static_cast<TaskId>(size_++);
  if (id / kBlock == blocks_.size())
    blocks_.push_back(std::make_unique<std::array<Task, kBlock>>());
  Task& task = (*this)[id];
  task.id = id;
  task.born = task.began = task.since = born;
  return id;
}

TaskId Tasks::add(Tid tid, int64_t born) {
  const TaskId id = add_idle(born);
  (*this)[id].tid = tid;
  const auto number = static_cast<uint32_t>(raw(tid));
  if (number >= kPaged) {
    odd_[tid] = id;
    return id;
  }
  auto& page = pages_[number / kPage];
  if (!page) {
    page = std::make_unique<Page>();
    page->fill(kNoTask);
  }
  (*page)[number % kPage] = id;
  return id;
}

TaskId Tasks::find_odd(Tid tid) const {
  const auto found = odd_.find(tid);
  return found == odd_.end() ? kNoTask : found->second;
}

}  // namespace strata::state
