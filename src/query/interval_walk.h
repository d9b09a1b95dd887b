// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "history/history.h"

namespace strata::query {

// The intervals of one row of a history that have a part in a range, one after the other. A piece
// of the range is read at a time: there may be more of them than fit into memory.
class IntervalWalk {
 public:
  IntervalWalk() = default;  // none
  IntervalWalk(history::History& history, history::Row row, int64_t begin, int64_t end);

  // Null at the end. Valid until the next call.
  Result<const history::Interval*> next();

 private:
  Status read_piece();

  history::History* history_ = nullptr;
  history::Row row_ = 0;
  int64_t position_ = 0;  // up to here it was read
  int64_t end_ = 0;
  int64_t piece_ = 0;  // how much is read at a time
  bool is_first_ = true;
  std::vector<history::Interval> intervals_;
  size_t next_ = 0;
};

}  // namespace strata::query
