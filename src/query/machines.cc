// SPDX-License-Identifier: Apache-2.0
#include "query/machines.h"

#include <algorithm>

namespace strata::query {

std::optional<uint32_t> Machine::info_at(Changes& changes, state::TaskId task,
                                         std::optional<history::Row> row, int64_t time) {
  const auto [found, is_new] = changes.try_emplace(task);
  std::vector<Since>& all = found->second;
  if (is_new && row) {
    // What is damaged is found when the rows themselves are read.
    (void)history().each(*row, history().begin(), history().end(),
                         [&](const history::Interval& interval) {
                           all.push_back({interval.begin, interval.info});
                         });
  }
  if (all.empty()) return std::nullopt;
  // Before it is first told, it is taken for the same.
  auto after = std::ranges::upper_bound(all, time, {}, &Since::time);
  return after == all.begin() ? all.front().info : std::prev(after)->info;
}

std::string_view Machine::task_name(state::TaskId task, int64_t time) {
  if (task >= index().tasks().size()) return {};
  const state::Index::TaskRows& rows = index().tasks()[task];
  if (rows.tid == Tid{0}) return state::kIdleTask;
  const std::optional<uint32_t> name = info_at(names_, task, rows.name, time);
  return name ? std::string_view(index().name(*name)) : std::string_view();
}

Tid Machine::process(state::TaskId task, int64_t time) {
  if (task >= index().tasks().size()) return kNoTid;
  const std::optional<uint32_t> process =
      info_at(processes_, task, index().tasks()[task].process, time);
  return process ? Tid{static_cast<int32_t>(*process)} : kNoTid;
}

history::StateTimes Machine::times(history::Row row) {
  const Result<history::StateTimes> times =
      history().times(row, history().begin(), history().end());
  return times ? *times : history::StateTimes{};
}

Result<std::vector<Machine>*> Machines::open() {
  if (!machines_) {
    std::vector<Error> problems;
    Result<std::vector<state::IndexedMachine>> indexed =
        state::open_index(traces_, progress, problems);
    for (const Error& problem : problems) problems_.add(problem);
    if (!indexed) return indexed.error();
    machines_.emplace();
    for (state::IndexedMachine& machine : *indexed) machines_->emplace_back(std::move(machine));
  }
  return &*machines_;
}

}  // namespace strata::query
