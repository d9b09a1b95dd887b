// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "query/event_table.h"
#include "query/problems.h"
#include "state/index_store.h"

namespace strata::query {

// A machine of the traces, as the state engine knows it.
class Machine {
 public:
  explicit Machine(state::IndexedMachine indexed) : indexed_(std::move(indexed)) {}

  const std::string& name() const { return indexed_.name; }
  state::Index& index() { return indexed_.index; }
  history::History& history() { return indexed_.index.history(); }

  // What a task was called at a time, and its process. Kept: many rows are of few tasks.
  std::string_view task_name(state::TaskId task, int64_t time);
  Tid process(state::TaskId task, int64_t time);
  // How long a row was in each state, from the beginning to the end.
  history::StateTimes times(history::Row row);

 private:
  struct Since {
    int64_t time;
    uint32_t info;
  };
  using Changes = std::unordered_map<state::TaskId, std::vector<Since>>;
  std::optional<uint32_t> info_at(Changes& changes, state::TaskId task,
                                  std::optional<history::Row> row, int64_t time);

  state::IndexedMachine indexed_;
  Changes names_;
  Changes processes_;
};

// The machines, whose states are found when somebody first asks for them: all events are read then,
// unless that was done before and kept.
class Machines {
 public:
  // Both must outlive it.
  Machines(const Traces& traces, Problems& problems) : traces_(traces), problems_(problems) {}

  Result<std::vector<Machine>*> open();

  // Tells how far reading is.
  trace::ProgressCallback progress;

 private:
  const Traces& traces_;
  Problems& problems_;
  std::optional<std::vector<Machine>> machines_;
};

}  // namespace strata::query
