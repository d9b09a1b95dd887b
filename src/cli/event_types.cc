// SPDX-License-Identifier: Apache-2.0
#include "cli/event_types.h"

#include <string>

#include "base/number_text.h"
#include "kernel/families.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using kernel::Family;
using trace::EventType;
using trace::Field;
using Types = std::vector<const EventType*>;

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

std::string full_name(const EventType& type) {
  return type.system.empty() ? type.name : type.system + ":" + type.name;
}

void put_type(const EventType& type, const Style& style, TextBuffer& out) {
  out.put(style.heading(full_name(type)) + "  id " + std::to_string(type.id) + "\n");
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
  json["family"] = name_of(kernel::family_of(type.system, type.name));
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

// False: whoever reads has gone.
bool put_plainly(const Types& types, TypeDetail detail, const Style& style, Output& out) {
  bool first = true;
  for (const EventType* type : types) {
    if (detail == TypeDetail::Names) {
      out.text().put(full_name(*type));
      out.text().put('\n');
    } else {
      if (!first) out.text().put('\n');
      if (detail == TypeDetail::Declaration) {
        put_declaration(*type, out.text());
      } else {
        put_type(*type, style, out.text());
      }
    }
    first = false;
    if (!out.drain()) return false;
  }
  return true;
}

Types of_family(const Types& types, Family family) {
  Types own;
  for (const EventType* type : types)
    if (kernel::family_of(type->system, type->name) == family) own.push_back(type);
  return own;
}

}  // namespace

void put_types(const Types& types, TypeStyle how, const Style& style, Output& out) {
  if (!how.by_family) {
    put_plainly(types, how.detail, style, out);
    return;
  }
  bool first = true;
  for (Family family : kernel::kFamilies) {
    const Types own = of_family(types, family);
    if (own.empty()) continue;
    if (!first) out.text().put('\n');
    first = false;
    out.text().put(style.heading(std::string(name_of(family)) + ": " + grouped(own.size()) +
                                 (own.size() == 1 ? " event" : " events")));
    out.text().put("\n\n");
    if (!put_plainly(own, how.detail, style, out)) return;
  }
}

Json json_types(const Types& types, TypeStyle how) {
  const bool declared = how.detail == TypeDetail::Declaration;
  Json list = Json::array();
  if (!how.by_family) {
    for (const EventType* type : types) list.push_back(json_type(*type, declared));
    return list;
  }
  for (Family family : kernel::kFamilies)
    for (const EventType* type : of_family(types, family))
      list.push_back(json_type(*type, declared));
  return list;
}

}  // namespace strata::cli
