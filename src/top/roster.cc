// SPDX-License-Identifier: Apache-2.0
#include "top/roster.h"

#include <algorithm>

namespace strata::top {

using period::Column;
using period::TaskRow;

// With the strings that do not fit into their objects, and what a map needs for itself.
size_t Roster::bytes_of(const Task& task) {
  constexpr size_t kNode = 4 * sizeof(void*) + sizeof(Key);
  size_t bytes = kNode + sizeof task + task.states.capacity() * sizeof(State);
  for (const std::string* text :
       {&task.row.name, &task.row.container, &task.row.cgroup, &task.row.vm})
    if (text->capacity() > std::string().capacity()) bytes += text->capacity() + 1;
  return bytes;
}

void Roster::clear() {
  tasks_.clear();
  bytes_ = 0;
}

void Roster::note(const period::Table& table) {
  for (const period::Machine& machine : table.machines) {
    Machine& known = tasks_[machine.name];
    for (const TaskRow& row : machine.tasks) {
      const auto [found, is_new] = known.tasks.try_emplace({row.tid, row.start});
      Task& task = found->second;
      if (!is_new) bytes_ -= bytes_of(task);
      const uint64_t memory = row.values[Column::Memory];
      task.row = row;
      task.row.values = {};
      task.row.values.set(Column::Memory, memory);
      task.row.corrections.clear();
      task.row.was_born = task.row.has_ended = false;
      // What it did before its first row, as far as that was told.
      if (task.states.empty() && row.state_before)
        task.states.push_back({table.begin, row.state_before});
      task.has_ended = row.has_ended || !row.state;
      if (task.states.empty() || task.has_ended || task.states.back().state != row.state)
        task.states.push_back({table.end, row.state});
      bytes_ += bytes_of(task);
    }
  }
}

void Roster::forget_before(int64_t time) {
  for (auto& [name, machine] : tasks_) {
    std::erase_if(machine.tasks, [&](const auto& at) {
      const Task& task = at.second;
      const bool is_over = task.has_ended && task.states.back().at < time;
      if (is_over) bytes_ -= bytes_of(task);
      return is_over;
    });
    for (auto& [key, task] : machine.tasks) {
      // The last one before it is what was done then.
      const auto later = std::ranges::upper_bound(task.states, time, {}, &State::at);
      if (later - task.states.begin() > 1) task.states.erase(task.states.begin(), later - 1);
    }
  }
}

void Roster::complete(period::Table& table) const {
  for (period::Machine& machine : table.machines) {
    const auto known = tasks_.find(machine.name);
    if (known == tasks_.end()) continue;
    std::vector<Key> there;
    there.reserve(machine.tasks.size());
    for (const TaskRow& row : machine.tasks) there.emplace_back(row.tid, row.start);
    std::ranges::sort(there);
    for (const auto& [key, task] : known->second.tasks) {
      if (std::ranges::binary_search(there, key)) continue;
      const auto later = std::ranges::upper_bound(task.states, table.begin, {}, &State::at);
      if (later == task.states.begin()) continue;  // it came later
      const State& last = *(later - 1);
      if (!last.state) continue;  // it had ended
      TaskRow& row = machine.tasks.emplace_back(task.row);
      row.state_before = row.state = last.state;
      row.values.set(*last.state, static_cast<uint64_t>(table.length()));
    }
  }
}

}  // namespace strata::top
