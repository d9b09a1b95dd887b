// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "query/table.h"
#include "trace/trace.h"

namespace strata::query {

// Columns of the table `event` that every event has. Behind them come those of fields.
enum class EventColumn : uint8_t {
  Time,
  Cpu,
  Tid,
  Comm,
  System,
  Name,
  Text,
  Machine,
  Trace,
  Fields,
  Buffer,
  Lost,
  LostUnknown,
  Stream,
  Nth,
  Count_,
};
constexpr auto kEventColumns = static_cast<size_t>(EventColumn::Count_);

// A column for each name that a field of any event type has. To SQL, `Pid` and `pid` are one name.
// A field that is called like a column that is there already has "field_" before its name.
class EventColumns {
 public:
  // Of `types`, at most so many columns. Where that is not enough, fields of events that the
  // project knows the meaning of come first, then others in the order of the types.
  EventColumns(const std::vector<const trace::EventType*>& types, size_t most);

  const std::vector<Column>& columns() const { return columns_; }
  // Names of fields that there was no column left for.
  const std::vector<std::string>& left_out() const { return left_out_; }

  // The field of this type that the column shows, if any; the event's own before those that its
  // tracer adds to every event.
  const trace::Field* field(const trace::EventType& type, size_t column) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::string> fields_;  // the names, from column kEventColumns on
  std::vector<std::string> left_out_;
};

}  // namespace strata::query
