// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "period/table.h"

namespace strata::top {

// All tasks that tables have told of. A table has no row for tasks that did nothing; here is what
// they are, and what they went on doing.
class Roster {
 public:
  // Tables in order, each once.
  void note(const period::Table& table);
  // What ended before this is needed no more, nor what was done before.
  void forget_before(int64_t time);
  void clear();
  // What it holds in memory, about.
  size_t bytes() const { return bytes_; }

  // Rows for those that were there in the table's period and have none.
  void complete(period::Table& table) const;

 private:
  struct State {
    int64_t at = 0;  // the end of a period
    std::optional<period::Column> state = std::nullopt;
  };
  struct Task {
    period::TaskRow row;             // without values, but for memory
    std::vector<State> states = {};  // wherever that changed
    bool has_ended = false;
  };
  using Key = std::pair<int32_t, int64_t>;  // tid, start
  struct Machine {
    std::map<Key, Task> tasks;
  };

  static size_t bytes_of(const Task& task);

  std::map<std::string, Machine> tasks_;
  size_t bytes_ = 0;
};

}  // namespace strata::top
