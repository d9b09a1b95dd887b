// SPDX-License-Identifier: Apache-2.0
#include "query/event_rows.h"

#include <algorithm>
#include <limits>

#include "trace/field_text.h"

namespace strata::query {
namespace {

using trace::Event;
using trace::EventType;
using trace::Field;
using trace::FieldRef;
using trace::Location;
using trace::Step;
using trace::Stream;
using trace::ValueKind;

// How far behind the end of the wanted period events are still looked at: a clock may step back.
constexpr int64_t kBackwards = 10'000'000;
// Streams are numbered trace by trace.
constexpr unsigned kTraceShift = 20;
constexpr uint32_t kEventsBetweenLooks = 4096;
// Where events do not tell their thread, it is known from a switch on: reading begins so much
// earlier that there has been one.
constexpr int64_t kLookBack = 100'000'000;

size_t index_of(EventColumn column) { return static_cast<size_t>(column); }

bool all_tell_threads(const trace::Trace& trace) {
  return std::ranges::all_of(trace.event_types(),
                             [](const EventType* type) { return static_cast<bool>(type->tid); });
}

// An alternative that this event did not take.
bool is_absent(const Event& event, const FieldRef& ref) {
  return ref.location >= Location::Based && event.bases[ref.base] == trace::kAbsent;
}

}  // namespace

EventRows::EventRows(const Traces& traces, const EventColumns& columns, Problems& problems,
                     const std::atomic<bool>& interrupted)
    : columns_(columns),
      problems_(problems),
      interrupted_(interrupted),
      places_(columns.columns().size()) {
  for (const auto& trace : traces)
    origins_.push_back({trace.get(), trace->events_tell_cpus(), all_tell_threads(*trace), nullptr});
}

void EventRows::begin(const Conditions& conditions) {
  end();
  conditions_ = conditions;
  types_ = {};
  if (conditions_.is_empty()) return;
  time_ = conditions_.of(index_of(EventColumn::Time));
  cpu_ = conditions_.of(index_of(EventColumn::Cpu));
  tid_ = conditions_.of(index_of(EventColumn::Tid));
  needs_names_ = conditions_.uses(index_of(EventColumn::Comm));
  stop_after_ = saturated(Int128{time_.most()} + kBackwards);
  open_streams();
  next();
}

void EventRows::open_streams() {
  const bool needs_threads = needs_names_ || conditions_.uses(index_of(EventColumn::Tid));
  std::vector<std::unique_ptr<Stream>> wanted;
  for (size_t i = 0; i < origins_.size(); ++i) {
    Origin& origin = origins_[i];
    const trace::TraceInfo& info = origin.trace->info();
    if (!conditions_.of(index_of(EventColumn::Trace)).accepts(info.path) ||
        !conditions_.of(index_of(EventColumn::Machine)).accepts(info.machine))
      continue;
    if (needs_names_ && !origin.names)
      origin.names = std::make_unique<trace::LearnedNames>(*origin.trace);
    const bool looks_back = needs_threads && !origin.tells_threads;
    const int64_t begin = saturated(Int128{time_.least()} - (looks_back ? kLookBack : 0));
    std::vector<std::unique_ptr<Stream>> streams = origin.trace->open_streams();
    for (size_t j = 0; j < streams.size(); ++j) {
      if (!origin.tells_cpus && !cpu_.accepts(int64_t{raw(streams[j]->cpu())})) continue;
      if (begin > std::numeric_limits<int64_t>::min()) streams[j]->skip_to(Nanoseconds{begin});
      sources_.push_back({&origin, static_cast<int64_t>(i << kTraceShift | j)});
      wanted.push_back(std::move(streams[j]));
    }
  }
  merge_.emplace(std::move(wanted));
}

void EventRows::end() {
  if (!merge_) return;
  for (const auto& stream : merge_->streams())
    if (stream->problem()) problems_.add(*stream->problem());
  merge_.reset();
  sources_.clear();
}

void EventRows::next() {
  for (uint32_t passed = 1;; ++passed) {
    if (passed % kEventsBetweenLooks == 0 && interrupted_) [[unlikely]]
      return end();
    if (merge_->next() != Step::Event) [[unlikely]]
      return end();
    const Event& event = merge_->event();
    if (event.time.count > stop_after_) [[unlikely]]
      return end();
    Source& source = sources_[merge_->stream_index()];
    source.nth = event.time.count == source.time ? source.nth + 1 : 0;
    source.time = event.time.count;
    if (needs_names_) {
      source.origin->names->learn_running(event);
      source.origin->names->learn(event);
    }
    if (!is_wanted(event)) continue;
    source_ = &source;
    return;
  }
}

bool EventRows::is_wanted(const Event& event) {
  const OfType* type = types_.find(event.type);
  if (type == nullptr) [[unlikely]]
    type = add_type(*event.type);
  return type->is_wanted && time_.accepts(event.time.count) &&
         tid_.accepts(int64_t{raw(event.tid())}) && cpu_.accepts(int64_t{raw(event.cpu)});
}

EventRows::OfType* EventRows::add_type(const EventType& type) {
  OfType of_type;
  of_type.is_wanted = conditions_.of(index_of(EventColumn::Name)).accepts(type.name) &&
                      conditions_.of(index_of(EventColumn::System)).accepts(type.system);
  return types_.add(&type, std::move(of_type));
}

void EventRows::column(size_t column, Cell& cell) {
  const Event& event = merge_->event();
  const trace::Trace& trace = *source_->origin->trace;
  if (column >= kEventColumns) return show_field(field_of(*event.type, column), cell);
  switch (static_cast<EventColumn>(column)) {
    case EventColumn::Time:
      return cell.integer(event.time.count);
    case EventColumn::Cpu:
      return cell.integer(int64_t{raw(event.cpu)});
    case EventColumn::Tid:
      if (const Tid tid = event.tid(); tid != kNoTid) cell.integer(int64_t{raw(tid)});
      return;
    case EventColumn::Comm:
      return show_comm(cell);
    case EventColumn::System:
      return cell.lasting_text(event.type->system);
    case EventColumn::Name:
      return cell.lasting_text(event.type->name);
    case EventColumn::Text:
      text_.clear();
      trace.print_fields(event, text_);
      return cell.text(text_.view());
    case EventColumn::Machine:
      return cell.lasting_text(trace.info().machine);
    case EventColumn::Trace:
      return cell.lasting_text(trace.info().path);
    case EventColumn::Fields:
      return show_fields(cell);
    case EventColumn::Buffer:
      return cell.text(merge_->stream().buffer());
    case EventColumn::Lost:
      return cell.integer(static_cast<int64_t>(event.lost));
    case EventColumn::LostUnknown:
      return cell.integer(static_cast<int64_t>(event.lost_unknown));
    case EventColumn::Stream:
      return cell.integer(source_->number);
    case EventColumn::Nth:
      return cell.integer(source_->nth);
    case EventColumn::Count_:
      return;
  }
}

void EventRows::show_comm(Cell& cell) {
  const Tid tid = merge_->event().tid();
  if (!source_->origin->names) return;  // nobody said that it would be asked for
  const trace::TaskNames& names = source_->origin->names->names();
  if (raw(tid) == 0 || names.knows(tid)) cell.text(names.find(tid));
}

const EventRows::FieldOf& EventRows::field_of(const EventType& type, size_t column) {
  if (places_[column] == 0) places_[column] = ++places_used_;
  std::vector<FieldOf>& fields = types_.find(&type)->fields;
  if (fields.size() < places_used_) fields.resize(places_used_);
  FieldOf& of_type = fields[places_[column] - 1u];
  if (!of_type.is_resolved) {
    of_type.is_resolved = true;
    of_type.field = columns_.field(type, column);
    if (of_type.field != nullptr) of_type.ref = FieldRef(*of_type.field, type.order);
  }
  return of_type;
}

void EventRows::show_field(const FieldOf& field, Cell& cell) {
  const Event& event = merge_->event();
  const FieldRef& ref = field.ref;
  if (field.field == nullptr || is_absent(event, ref)) return;
  switch (ref.kind) {
    case ValueKind::Integer:
    case ValueKind::Pointer:
      if (const std::optional<int64_t> value = event.integer(ref)) cell.integer(*value);
      return;
    case ValueKind::Float:
      if (const std::optional<double> value = event.real(ref)) cell.real(*value);
      return;
    case ValueKind::Text:
      return cell.text(event.text(ref));
    case ValueKind::Array:
    case ValueKind::Compound:
      text_.clear();
      put_json(*field.field, ref);
      return cell.text(text_.view());
  }
}

void EventRows::put_json(const Field& field, const FieldRef& ref) {
  if (ref.kind == ValueKind::Compound)
    source_->origin->trace->print_compound(merge_->event(), field, text_);
  else
    trace::put_field_json(merge_->event(), ref, text_);
}

void EventRows::show_fields(Cell& cell) {
  const Event& event = merge_->event();
  text_.clear();
  text_.put('{');
  for (const Field& field : event.type->fields) {
    const FieldRef ref(field, event.type->order);
    if (is_absent(event, ref)) continue;
    if (text_.back() != '{') text_.put(',');
    trace::put_json_string(field.name, text_);
    text_.put(':');
    put_json(field, ref);
  }
  text_.put('}');
  cell.text(text_.view());
}

}  // namespace strata::query
