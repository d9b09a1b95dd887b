// SPDX-License-Identifier: Apache-2.0
#include "query/event_table.h"

#include "query/event_rows.h"

namespace strata::query {
namespace {

std::vector<const trace::EventType*> types_of(const Traces& traces) {
  std::vector<const trace::EventType*> all;
  for (const auto& trace : traces)
    for (const trace::EventType* type : trace->event_types()) all.push_back(type);
  return all;
}

}  // namespace

EventTable::EventTable(const Traces& traces, size_t most_columns, Problems& problems)
    : traces_(traces), event_columns_(types_of(traces), most_columns), problems_(problems) {
  name = "event";
  about =
      "the events of all traces, by time; with a column for every field, NULL where the event "
      "has none such";
  columns = event_columns_.columns();
  for (const EventColumn column : {EventColumn::Stream, EventColumn::Time, EventColumn::Nth})
    key.push_back(static_cast<size_t>(column));
  sorted_by = static_cast<size_t>(EventColumn::Time);
  about_rows = 1e7;
}

std::unique_ptr<Rows> EventTable::open(const std::atomic<bool>& interrupted) const {
  return std::make_unique<EventRows>(traces_, event_columns_, problems_, interrupted);
}

}  // namespace strata::query
