// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "query/event_columns.h"
#include "query/event_table.h"
#include "trace/learned_names.h"
#include "trace/merge.h"
#include "trace/type_table.h"

namespace strata::query {

// The rows of the table `event`: one way along all streams that the conditions leave. A row is a
// view of the event that the merge is at; a column is read when it is asked for.
class EventRows : public Rows {
 public:
  EventRows(const Traces& traces, const EventColumns& columns, Problems& problems,
            const std::atomic<bool>& interrupted);
  ~EventRows() override { end(); }

  void begin(const Conditions& conditions) override;
  void next() override;
  bool at_end() const override { return !merge_; }
  void column(size_t column, Cell& cell) override;

 private:
  // What is kept for each trace.
  struct Origin {
    const trace::Trace* trace;
    bool tells_cpus;                             // events do, one by one
    bool tells_threads;                          // all events do
    std::unique_ptr<trace::LearnedNames> names;  // made when somebody asks for one
  };
  // For each stream of the merge.
  struct Source {
    Origin* origin;
    int64_t number;  // the same whatever the conditions
    int64_t time = 0;
    int64_t nth = -1;  // of the events at that time
  };
  // A column of a field in one type, resolved when it is first asked for.
  struct FieldOf {
    bool is_resolved = false;
    const trace::Field* field = nullptr;
    trace::FieldRef ref;
  };
  struct OfType {
    bool is_wanted = false;
    std::vector<FieldOf> fields;  // by the places of the columns that the statement uses
  };

  void open_streams();
  void end();
  // Whether it is a row.
  bool is_wanted(const trace::Event& event);
  OfType* add_type(const trace::EventType& type);
  const FieldOf& field_of(const trace::EventType& type, size_t column);
  void show_field(const FieldOf& field, Cell& cell);
  void show_comm(Cell& cell);
  void show_fields(Cell& cell);
  void put_json(const trace::Field& field, const trace::FieldRef& ref);

  const EventColumns& columns_;
  Problems& problems_;
  const std::atomic<bool>& interrupted_;
  std::vector<Origin> origins_;

  Conditions conditions_;
  Condition time_;
  Condition cpu_;
  Condition tid_;
  bool needs_names_ = false;
  int64_t stop_after_ = 0;
  std::optional<trace::Merge> merge_;  // none: at the end
  std::vector<Source> sources_;
  const Source* source_ = nullptr;  // of the row
  trace::TypeTable<OfType> types_;
  std::vector<uint16_t> places_;  // by column: of OfType::fields, from 1 on; 0: not used yet
  uint16_t places_used_ = 0;
  TextBuffer text_;
};

}  // namespace strata::query
