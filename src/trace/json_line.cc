// SPDX-License-Identifier: Apache-2.0
#include "trace/json_line.h"

#include <cstring>

#include "trace/field_text.h"

namespace strata::trace {
namespace {

constexpr size_t kLongestComm = 32;

std::string json_string(std::string_view text) {
  TextBuffer out;
  put_json_string(text, out);
  return std::string(out.view());
}

}  // namespace

JsonLine::JsonLine(const Trace& trace, const LearnedNames& names, std::string_view trace_name,
                   std::vector<std::string> fields)
    : trace_(trace),
      names_(names),
      chosen_(std::move(fields)),
      origin_(",\"machine\":" + json_string(trace.info().machine) +
              ",\"trace\":" + json_string(trace_name)) {}

JsonLine::TypeText* JsonLine::add_type(const EventType& type) {
  TypeText text;
  text.name = ",\"system\":" + json_string(type.system) + ",\"event\":" + json_string(type.name);
  const auto add = [&](const Field& field, std::vector<NamedField>& to) {
    to.push_back({json_string(field.name) + ":", FieldRef(field, type.order), &field});
  };
  // What the kernel's own tracer puts into every event is of no interest to people.
  const bool has_context =
      type.common_fields > 0 && !type.fields.front().name.starts_with("common_");
  if (chosen_.empty()) {
    for (size_t i = 0; has_context && i < type.common_fields; ++i)
      add(type.fields[i], text.context);
    for (size_t i = type.common_fields; i < type.fields.size(); ++i)
      add(type.fields[i], text.fields);
  } else {
    for (const std::string& name : chosen_)
      if (const Field* field = type.find(name)) add(*field, text.fields);
  }
  return types_.add(&type, std::move(text));
}

void JsonLine::make_task(Tasks::Text& text, Tid tid) const {
  TextBuffer made;
  if (tid == kNoTid) {
    made.put(std::string_view(",\"tid\":null,\"comm\":null"));
  } else {
    made.put(std::string_view(",\"tid\":"));
    made.put_decimal(int64_t{raw(tid)});
    made.put(std::string_view(",\"comm\":"));
    put_json_string(names_.names().find(tid).substr(0, kLongestComm), made);
  }
  std::memcpy(text.text, made.view().data(), made.size());
  text.size = static_cast<uint8_t>(made.size());
  text.named = raw(tid) == 0 || names_.names().knows(tid);
  text.version = names_.version();
}

void JsonLine::print(const Event& event, std::string_view buffer, TextBuffer& out) {
  TypeText* type = types_.find(event.type);
  if (!type) [[unlikely]]
    type = add_type(*event.type);

  out.put(std::string_view("{\"ts_ns\":"));
  out.put_decimal(event.time.count);
  out.put(origin_);
  if (!buffer.empty()) {
    out.put(std::string_view(",\"buffer\":"));
    put_json_string(buffer, out);
  }
  out.put(std::string_view(",\"cpu\":"));
  out.put_decimal(uint64_t{raw(event.cpu)});
  const Tid tid = event.tid();
  Tasks::Text& task = tasks_.at(tid);
  if (Tasks::stale(task, names_.version())) [[unlikely]]
    make_task(task, tid);
  out.put(std::string_view(task.text, task.size));
  out.put(type->name);
  if (event.lost != 0) [[unlikely]] {
    out.put(std::string_view(",\"lost\":"));
    out.put_decimal(event.lost);
  }
  if (event.lost_unknown) [[unlikely]]
    out.put(std::string_view(",\"lost_unknown\":true"));
  if (!type->context.empty()) {
    out.put(std::string_view(",\"context\":{"));
    put_fields(event, type->context, out);
    out.put('}');
  }
  out.put(std::string_view(",\"fields\":{"));
  put_fields(event, type->fields, out);
  out.put(std::string_view("}}\n"));
}

void JsonLine::put_fields(const Event& event, const std::vector<NamedField>& fields,
                          TextBuffer& out) const {
  for (const NamedField& named : fields) {
    const FieldRef& ref = named.ref;
    // An alternative that this event did not take.
    if (ref.location >= Location::Based && event.bases[ref.base] == kAbsent) continue;
    if (out.back() != '{') out.put(',');
    out.put(named.key);
    if (ref.kind == ValueKind::Compound)
      trace_.print_compound(event, *named.field, out);
    else
      put_field_json(event, ref, out);
  }
}

}  // namespace strata::trace
