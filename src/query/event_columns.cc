// SPDX-License-Identifier: Apache-2.0
#include "query/event_columns.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "query/value_text.h"

namespace strata::query {
namespace {

using trace::EventType;
using trace::Field;
using trace::ValueKind;

// As SQLite compares names: ASCII letters alone have two cases.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(), lower);
  return text;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::vector<Column> columns_of_every_event() {
  using enum ColumnType;
  std::vector<Column> all = {
      {"time", Integer,
       "when: ns on the common timeline, or the bare reading of a clock without time",
       Search::Range},
      {"cpu", Integer, "the CPU that it happened on", Search::Equal},
      {"tid", Integer, "the thread that was running; 0: idle; NULL: not known", Search::Equal},
      {"comm", Text, "that thread's name, as far as the trace has told it"},
      {"system", Text, "the group of events it belongs to, a program's provider", Search::Equal},
      {"name", Text, "the event's name", Search::Equal},
      {"text", Text, "its fields as its tracer shows them"},
      {"machine", Text, "the host's name", Search::Equal},
      {"trace", Text, "the path of the trace", Search::Equal},
      {"fields", Text, "all its fields as a JSON object: fields ->> 'prev_pid'"},
      {"buffer", Text, "the buffer it was written to; '': the main one"},
      {"lost", Integer, "events lost just before it, as far as they were counted"},
      {"lost_unknown", Integer, "1: events were lost just before it that nobody counted"},
      {"stream", Integer, "which of all streams it comes from: one for each CPU of each trace"},
      {"nth", Integer, "which of the stream's events at this very time: 0, 1, ..."},
  };
  for (size_t i = static_cast<size_t>(EventColumn::Fields); i < all.size(); ++i)
    all[i].hidden = true;
  return all;
}

ColumnType type_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::Integer:
    case ValueKind::Pointer:
      return ColumnType::Integer;
    case ValueKind::Float:
      return ColumnType::Real;
    case ValueKind::Text:
    case ValueKind::Array:
    case ValueKind::Compound:
      return ColumnType::Text;
  }
  return ColumnType::Any;
}

// What is told of a name in all event types that have it.
struct NamedField {
  std::string name;
  ColumnType type;
  std::string declared;  // as the first type declares it
  std::string first;     // type that has it
  size_t types = 0;
  bool is_common = false;

  std::string about() const {
    std::string text = declared;
    if (is_common) return harmless(text + " of every event");
    text += " of " + first;
    if (types > 1) text += " and " + std::to_string(types - 1) + " more";
    return harmless(text);
  }
};

std::vector<NamedField> names_of(std::vector<const EventType*> types) {
  std::stable_partition(types.begin(), types.end(), [](const EventType* type) {
    return type->meaning.word != trace::Word::None;
  });
  std::vector<NamedField> all;
  std::unordered_map<std::string, size_t> places;
  for (const EventType* type : types) {
    for (size_t i = 0; i < type->fields.size(); ++i) {
      const Field& field = type->fields[i];
      // A name that SQL cannot say.
      if (field.name.empty() || field.name.find('\0') != std::string::npos) continue;
      const auto [place, is_new] = places.try_emplace(lowered(field.name), all.size());
      if (is_new) {
        all.push_back({field.name, type_of(field.kind), field.type,
                       (type->system.empty() ? "" : type->system + ":") + type->name, 0,
                       i < type->common_fields});
      }
      NamedField& known = all[place->second];
      ++known.types;
      if (known.type != type_of(field.kind)) known.type = ColumnType::Any;
    }
  }
  return all;
}

}  // namespace

EventColumns::EventColumns(const std::vector<const EventType*>& types, size_t most)
    : columns_(columns_of_every_event()) {
  const std::vector<NamedField> names = names_of(types);
  std::unordered_set<std::string> of_every_event;
  for (const Column& column : columns_) of_every_event.insert(column.name);
  std::unordered_set<std::string> taken = of_every_event;
  for (const NamedField& field : names) taken.insert(lowered(field.name));

  for (const NamedField& field : names) {
    if (columns_.size() >= most) {
      left_out_.push_back(field.name);
      continue;
    }
    std::string name = field.name;
    if (of_every_event.contains(lowered(name))) {
      do name.insert(0, "field_");
      while (!taken.insert(lowered(name)).second);
    }
    columns_.push_back({name, field.type, field.about(), Search::None, true});
    fields_.push_back(field.name);
  }
}

const Field* EventColumns::field(const EventType& type, size_t column) const {
  const std::string& name = fields_[column - kEventColumns];
  const auto own = type.fields.begin() + type.common_fields;
  const auto is_it = [&](const Field& field) { return same_name(field.name, name); };
  auto found = std::find_if(own, type.fields.end(), is_it);
  if (found == type.fields.end()) {
    found = std::find_if(type.fields.begin(), own, is_it);
    if (found == own) return nullptr;
  }
  return &*found;
}

}  // namespace strata::query
