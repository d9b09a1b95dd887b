// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/output.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "cli/traces.h"
#include "trace/selection.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using trace::EventType;
using trace::Field;

const char* kind_name(const Field& field) {
  switch (field.kind) {
    case trace::ValueKind::Integer:
      return "integer";
    case trace::ValueKind::Pointer:
      return "pointer";
    case trace::ValueKind::Text:
      return "text";
    case trace::ValueKind::Array:
      return "array";
    case trace::ValueKind::Float:
      return "float";
    case trace::ValueKind::Compound:
      return "compound";
  }
  return "";
}

std::vector<const EventType*> chosen_types(const trace::Trace& trace,
                                           const std::vector<trace::EventPattern>& patterns) {
  std::vector<const EventType*> types;
  for (const EventType* type : trace.event_types()) {
    if (patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                        [&](const auto& p) { return p.matches(*type); }))
      types.push_back(type);
  }
  std::sort(types.begin(), types.end(), [](const EventType* a, const EventType* b) {
    return std::tie(a->system, a->name, a->id) < std::tie(b->system, b->name, b->id);
  });
  return types;
}

void put_type(const EventType& type, const Style& style, TextBuffer& out) {
  out.put(style.heading(type.system.empty() ? type.name : type.system + ":" + type.name) + "  id " +
          std::to_string(type.id) + "\n");
  Table fields({"field", "type", "offset", "size", "signed", "value"});
  for (size_t i = type.common_fields; i < type.fields.size(); ++i) {
    const Field& field = type.fields[i];
    fields.add({field.name, field.type, std::to_string(field.offset), std::to_string(field.size),
                field.is_signed ? "yes" : "no", kind_name(field)});
  }
  if (!fields.empty()) fields.put(style, 2, out);
}

void put_declaration(const EventType& type, TextBuffer& out) {
  out.put(type.declaration);
  if (out.empty() || out.back() != '\n') out.put('\n');
}

Json json_type(const EventType& type, bool with_format) {
  Json json = {{"id", type.id}, {"system", type.system}, {"name", type.name}};
  if (type.meaning.word != trace::Word::None) json["meaning"] = name_of(type.meaning.word);
  Json& fields = json["fields"] = Json::array();
  for (size_t i = 0; i < type.fields.size(); ++i) {
    const Field& field = type.fields[i];
    fields.push_back({{"name", field.name},
                      {"type", field.type},
                      {"offset", field.offset},
                      {"size", field.size},
                      {"signed", field.is_signed},
                      {"value", kind_name(field)},
                      {"common", i < type.common_fields}});
  }
  json["print_format"] = type.print_format;
  if (with_format) json["format"] = type.declaration;
  return json;
}

}  // namespace

int run(const EventsArguments& arguments) {
  std::vector<trace::EventPattern> patterns;
  for (const std::string& pattern : arguments.patterns) patterns.emplace_back(pattern);

  Traces traces = open_traces(arguments.paths);
  int status = traces.problems.empty() ? kExitFine : kExitInput;
  const Style style(STDOUT_FILENO);
  Output out(STDOUT_FILENO);
  Json json = {{"traces", Json::array()}};
  size_t found = 0;
  for (const auto& trace : traces.opened) {
    const std::vector<const EventType*> types = chosen_types(*trace, patterns);
    if (arguments.json) {
      Json list = Json::array();
      for (const EventType* type : types) list.push_back(json_type(*type, arguments.format));
      json["traces"].push_back({{"path", trace->info().path}, {"event_types", std::move(list)}});
    } else {
      if (traces.opened.size() > 1) out.text().put(trace->info().path + ":\n\n");
      for (const EventType* type : types) {
        if (found++ > 0) out.text().put('\n');
        if (arguments.format) {
          put_declaration(*type, out.text());
        } else {
          put_type(*type, style, out.text());
        }
        if (!out.drain()) break;
      }
    }
    found += types.size();
  }
  if (arguments.json) {
    out.text().put(json.dump(2, ' ', false, Json::error_handler_t::replace));
    out.text().put('\n');
  }
  Status written = out.finish();
  for (const auto& trace : traces.opened)
    status = std::max(status, tell_problems(trace->problems()));
  if (found == 0 && !patterns.empty() && !traces.opened.empty()) {
    complain("no event type matches");
    status = kExitInput;
  }
  if (!written) {
    complain(written.error());
    return kExitInput;
  }
  return status;
}

}  // namespace strata::cli
