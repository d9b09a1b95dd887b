// SPDX-License-Identifier: Apache-2.0
#include "top/roster.h"

#include <algorithm>

namespace strata::top {

using period::Column;
using period::TaskRow;

void Roster::note(const period::Table& table) {
  for (const period::Machine& machine : table.machines) {
    Machine& known = tasks_[machine.name];
    for (const TaskRow& row : machine.tasks) {
      Task& task = known.tasks[{row.tid, row.start}];
      const uint64_t memory = row.values[Column::Memory];
      task.row = row;
      task.row.values = {};
      task.row.values.set(Column::Memory, memory);
      task.row.corrections.clear();
      task.row.was_born = task.row.has_ended = false;
      // What it did before its first row, as far as that was told.
      if (task.states.empty() && row.state_before)
        task.states.push_back({table.begin, row.state_before});
      task.states.push_back({table.end, row.state});
      task.has_ended = row.has_ended || !row.state;
    }
  }
}

void Roster::forget_before(int64_t time) {
  for (auto& [name, machine] : tasks_) {
    std::erase_if(machine.tasks, [&](const auto& at) {
      const Task& task = at.second;
      return task.has_ended && task.states.back().at < time;
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
