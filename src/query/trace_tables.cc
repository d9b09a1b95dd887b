// SPDX-License-Identifier: Apache-2.0
#include "query/trace_tables.h"

#include "query/list_table.h"
#include "trace/field_text.h"

namespace strata::query {
namespace {

using trace::EventType;
using trace::Trace;
using enum ColumnType;

using OneTrace = const Trace*;

// Finding the last event's time takes a moment: done for who asks.
void show_begin(const OneTrace& trace, Cell& cell) {
  if (const std::optional<Trace::Span> span = trace->time_span()) cell.integer(span->begin.count);
}

void show_end(const OneTrace& trace, Cell& cell) {
  if (const std::optional<Trace::Span> span = trace->time_span()) cell.integer(span->end.count);
}

struct OneType {
  const EventType* type;
  const Trace* trace;
};

void show_meaning(const OneType& one, Cell& cell) {
  const trace::Word word = one.type->meaning.word;
  if (word != trace::Word::None) cell.lasting_text(name_of(word));
}

// {"prev_comm":"char[16]", ...}
void show_fields(const OneType& one, Cell& cell) {
  TextBuffer text;
  text.put('{');
  for (size_t i = one.type->common_fields; i < one.type->fields.size(); ++i) {
    const trace::Field& field = one.type->fields[i];
    if (text.back() != '{') text.put(',');
    trace::put_json_string(field.name, text);
    text.put(':');
    trace::put_json_string(field.type, text);
  }
  text.put('}');
  cell.text(text.view());
}

}  // namespace

std::unique_ptr<Table> trace_table(const Traces& traces) {
  using Parts = std::vector<ListTable<OneTrace>::Part>;
  return std::make_unique<ListTable<OneTrace>>(
      "trace", "the traces that were opened",
      Parts{
          {{"path", Text, "where it is"},
           [](const OneTrace& trace, Cell& cell) { cell.lasting_text(trace->info().path); }},
          {{"kind", Text, "its format"},
           [](const OneTrace& trace, Cell& cell) { cell.lasting_text(trace->info().kind); }},
          {{"machine", Text, "the host's name, where told"},
           [](const OneTrace& trace, Cell& cell) { cell.lasting_text(trace->info().machine); }},
          {{"kernel", Text, "its kernel's release and version"},
           [](const OneTrace& trace, Cell& cell) { cell.lasting_text(trace->info().kernel); }},
          {{"tracer", Text, "the program that recorded it"},
           [](const OneTrace& trace, Cell& cell) { cell.lasting_text(trace->info().tracer); }},
          {{"cpus", Integer, "how many CPUs it tells of"},
           [](const OneTrace& trace, Cell& cell) { cell.integer(trace->info().cpus); }},
          {{"clock", Text, "what its tracer stamped events with"},
           [](const OneTrace& trace, Cell& cell) { cell.lasting_text(trace->info().clock.name); }},
          {{"since_epoch", Integer,
            "1: times count from 1970 on; 0: they are its clock's readings"},
           [](const OneTrace& trace, Cell& cell) {
             cell.integer(static_cast<int64_t>(trace->info().since_epoch));
           }},
          {{"begin", Integer, "the first event's time; NULL: there is none"}, show_begin},
          {{"end", Integer, "the last event's time"}, show_end},
      },
      [&traces]() -> Result<std::vector<OneTrace>> {
        std::vector<OneTrace> rows;
        for (const auto& trace : traces) rows.push_back(trace.get());
        return rows;
      });
}

std::unique_ptr<Table> event_type_table(const Traces& traces) {
  using Parts = std::vector<ListTable<OneType>::Part>;
  return std::make_unique<ListTable<OneType>>(
      "event_type", "the event types that the traces describe, whether such events occur or not",
      Parts{
          {{"system", Text, "the group of events it belongs to; a program's provider"},
           [](const OneType& one, Cell& cell) { cell.lasting_text(one.type->system); }},
          {{"name", Text, "its name"},
           [](const OneType& one, Cell& cell) { cell.lasting_text(one.type->name); }},
          {{"id", Integer, "the trace's own number for it"},
           [](const OneType& one, Cell& cell) { cell.integer(one.type->id); }},
          {{"meaning", Text, "what it is in strata's own words; NULL: nothing it knows"},
           show_meaning},
          {{"fields", Text, "its fields, and as what the tracer declares them: a JSON object"},
           show_fields},
          {{"format", Text, "how the tracer would show it, in its own language"},
           [](const OneType& one, Cell& cell) { cell.lasting_text(one.type->print_format); }},
          {{"trace", Text, "the path of the trace"},
           [](const OneType& one, Cell& cell) { cell.lasting_text(one.trace->info().path); }},
      },
      [&traces]() -> Result<std::vector<OneType>> {
        std::vector<OneType> rows;
        for (const auto& trace : traces)
          for (const EventType* type : trace->event_types()) rows.push_back({type, trace.get()});
        return rows;
      });
}

}  // namespace strata::query
