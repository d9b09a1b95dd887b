// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "query/event_columns.h"
#include "query/problems.h"
#include "query/table.h"
#include "trace/trace.h"

namespace strata::query {

using Traces = std::vector<std::unique_ptr<trace::Trace>>;

// The table `event`: all events of all traces, merged, read anew by every statement. Conditions on
// time lead to the place; streams of other CPUs are not read; an event of another type or thread
// costs its decoding and a comparison.
class EventTable : public Table {
 public:
  // At most so many columns. `traces` and `problems` must outlive it.
  EventTable(const Traces& traces, size_t most_columns, Problems& problems);

  std::unique_ptr<Rows> open(const std::atomic<bool>& interrupted) const override;

  const EventColumns& event_columns() const { return event_columns_; }

 private:
  const Traces& traces_;
  EventColumns event_columns_;
  Problems& problems_;
};

}  // namespace strata::query
