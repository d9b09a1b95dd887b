// SPDX-License-Identifier: Apache-2.0
#include "state/task.h"

namespace strata::state {

std::string_view name_of(MigrationCause cause) {
  constexpr std::array<std::string_view, static_cast<size_t>(MigrationCause::Count_)> kNames = {
      "", "wake-up", "balance", "affinity"};
  return kNames[static_cast<size_t>(cause)];
}

TaskId Tasks::add_idle(int64_t born) {
  const auto id = static_cast<TaskId>(tasks_.size());
  Task& task = tasks_.emplace_back();
  task.born = task.began = task.since = born;
  return id;
}

TaskId Tasks::add(Tid tid, int64_t born) {
  const TaskId id = add_idle(born);
  tasks_[id].tid = tid;
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
