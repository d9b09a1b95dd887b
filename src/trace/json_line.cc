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
    : names_(names),
      chosen_(std::move(fields)),
      origin_(",\"machine\":" + json_string(trace.info().machine) +
              ",\"trace\":" + json_string(trace_name)) {}

JsonLine::TypeText* JsonLine::add_type(const EventType& type) {
  TypeText text;
  text.name = ",\"system\":" + json_string(type.system) + ",\"event\":" + json_string(type.name);
  auto add = [&](const Field& field) {
    const char* comma = text.fields.empty() ? "" : ",";
    text.fields.push_back({comma + json_string(field.name) + ":", FieldRef(field, type.order)});
  };
  if (chosen_.empty()) {
    for (size_t i = type.common_fields; i < type.fields.size(); ++i) add(type.fields[i]);
  } else {
    for (const std::string& name : chosen_)
      if (const Field* field = type.find(name)) add(*field);
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
  out.put(std::string_view(",\"fields\":{"));
  for (const NamedField& named : type->fields) {
    out.put(named.key);
    put_field_json(event, named.field, out);
  }
  out.put(std::string_view("}}\n"));
}

}  // namespace strata::trace
