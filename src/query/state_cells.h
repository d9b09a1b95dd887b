// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/interval_table.h"
#include "query/list_table.h"

namespace strata::query {

// Values that several tables of states show.

inline void show_tid(Tid tid, Cell& cell) {
  if (tid != kNoTid) cell.integer(int64_t{raw(tid)});
}

inline void show_task_tid(Machine& machine, state::TaskId task, Cell& cell) {
  if (task < machine.index().tasks().size()) show_tid(machine.index().tasks()[task].tid, cell);
}

// Empty: nobody told.
inline void show_name(std::string_view name, Cell& cell) {
  if (!name.empty()) cell.text(name);
}

template <typename... States>
void show_sum(const std::array<uint64_t, history::kStates>& ns, Cell& cell, States... states) {
  cell.integer(static_cast<int64_t>((ns[static_cast<size_t>(states)] + ...)));
}

// Rows of all machines, each made from one of them.
template <typename Row, typename Add>
Result<std::vector<Row>> of_all_machines(Machines& machines, Add&& add) {
  const Result<std::vector<Machine>*> opened = machines.open();
  if (!opened) return opened.error();
  std::vector<Row> rows;
  for (Machine& machine : **opened) add(machine, rows);
  return rows;
}

}  // namespace strata::query
