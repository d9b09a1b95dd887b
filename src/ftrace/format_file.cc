// SPDX-License-Identifier: Apache-2.0
#include "ftrace/format_file.h"

#include <charconv>
#include <optional>

namespace strata::ftrace {
namespace {

using trace::EventType;
using trace::Field;
using trace::Location;
using trace::ValueKind;

// A record's length is told in 16 bits wherever the kernel locates something in it; no field lies
// beyond.
constexpr uint32_t kMaxRecord = 1 << 16;

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::optional<uint32_t> number(std::string_view text) {
  text = trim(text);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Takes "key:VALUE;" off the front of `line`.
std::optional<std::string_view> take(std::string_view& line, std::string_view key) {
  line = trim(line);
  if (!line.starts_with(key)) return std::nullopt;
  const size_t end = line.find(';', key.size());
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view value = line.substr(key.size(), end - key.size());
  line.remove_prefix(end + 1);
  return trim(value);
}

bool has_word(std::string_view type, std::string_view word) {
  const auto is_name = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (size_t at = type.find(word); at != std::string_view::npos; at = type.find(word, at + 1)) {
    const bool begins = at == 0 || !is_name(type[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == type.size() || !is_name(type[end]))) return true;
  }
  return false;
}

// How large one element of a C type is, where its name tells.
uint32_t size_of(std::string_view type, Target target) {
  if (type.find('*') != std::string_view::npos) return target.long_size;
  const auto any = [&](auto... words) { return (has_word(type, words) || ...); };
  if (any("char", "bool", "u8", "s8", "__u8", "__s8", "uint8_t", "int8_t")) return 1;
  if (any("short", "u16", "s16", "__u16", "__s16", "__le16", "__be16", "uint16_t")) return 2;
  if (any("u64", "s64", "__u64", "__s64", "__le64", "__be64", "uint64_t", "loff_t", "sector_t"))
    return 8;
  if (any("long")) return type.find("long long") != std::string_view::npos ? 8 : target.long_size;
  if (any("size_t", "ssize_t", "cpumask_t")) return target.long_size;
  if (any("int", "unsigned", "u32", "s32", "__u32", "__s32", "__le32", "__be32", "uint32_t"))
    return 4;
  return 0;
}

// "__data_loc char[] name", "char comm[16]", "unsigned long address", "const char * name"
bool parse_declaration(std::string_view text, Field& field, Target target) {
  const auto locate = [&](std::string_view keyword, Location location) {
    if (!text.starts_with(keyword)) return;
    field.location = location;
    field.type = std::string(keyword) + " ";
    text = trim(text.substr(keyword.size()));
  };
  locate("__data_loc", Location::DataLoc);
  locate("__rel_loc", Location::RelLoc);
  const bool located = field.location != Location::InPlace;

  std::string_view dimension;
  bool is_array = located;
  if (const size_t open = text.rfind('['); open != std::string_view::npos && text.back() == ']') {
    dimension = text.substr(open + 1, text.size() - open - 2);
    text = trim(text.substr(0, open));
    is_array = true;
  }
  const size_t name_begin = text.find_last_of(" \t*") + 1;
  if (name_begin == 0 || name_begin == text.size()) return false;
  field.name = text.substr(name_begin);
  std::string_view type = trim(text.substr(0, name_begin));
  if (type.empty()) return false;
  const std::string_view element =
      type.ends_with("[]") ? trim(type.substr(0, type.size() - 2)) : type;
  field.type += element;
  if (located)
    field.type += "[]";
  else if (is_array)
    field.type += "[" + std::string(dimension) + "]";

  const bool is_char = has_word(element, "char") && element.find('*') == std::string_view::npos;
  if (is_array) {
    field.kind = is_char ? ValueKind::Text : ValueKind::Array;
    const std::optional<uint32_t> count = number(dimension);
    if (!located && count && *count > 0 && field.size % *count == 0)
      field.element_size = field.size / *count;
    else
      field.element_size = size_of(element, target);
  } else {
    field.element_size = field.size;
    if (element.find('*') != std::string_view::npos) field.kind = ValueKind::Pointer;
  }
  // Elements that are no plain integers (structures) are shown byte by byte.
  const uint32_t e = field.element_size;
  if (e != 1 && e != 2 && e != 4 && e != 8) {
    field.element_size = 1;
    field.kind = field.kind == ValueKind::Text ? ValueKind::Text : ValueKind::Array;
  }
  return true;
}

// field:TYPE NAME;  offset:N;  size:N;  signed:N;
std::optional<std::string> parse_field(std::string_view line, Field& field, Target target) {
  const auto declaration =
      line.starts_with("field special:") ? take(line, "field special:") : take(line, "field:");
  const auto offset = take(line, "offset:");
  const auto size = take(line, "size:");
  if (!declaration || !offset || !size) return "a field without type, offset or size";
  const auto offset_value = number(*offset);
  const auto size_value = number(*size);
  if (!offset_value || !size_value) return "a field whose offset or size is no number";
  if (*offset_value > kMaxRecord || *size_value > kMaxRecord)
    return "a field that lies beyond any record";
  field.offset = *offset_value;
  field.size = *size_value;
  // Kernels before 2.6.31 do not tell.
  if (const auto is_signed = take(line, "signed:")) field.is_signed = *is_signed == "1";
  if (!parse_declaration(*declaration, field, target)) return "a field without a name";
  return std::nullopt;
}

}  // namespace

Result<EventType> parse_format_file(std::string_view system, std::string_view text, Target target) {
  EventType type;
  type.system = system;
  type.declaration = text;
  type.order = target.order;
  bool has_id = false;
  bool in_fields = false;
  bool after_common = false;

  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trim(text.substr(at, end - at));
    const auto fail = [&](std::string cause) {
      return Error{"", at, "in the format of an event of " + std::string(system) + ": " + cause};
    };
    if (line.starts_with("name:")) {
      type.name = trim(line.substr(5));
    } else if (line.starts_with("ID:")) {
      const auto id = number(line.substr(3));
      if (!id || *id > 0xffff) return fail("an ID that is no 16-bit number");
      type.id = *id;
      has_id = true;
    } else if (line.starts_with("format:")) {
      in_fields = true;
    } else if (line.starts_with("field")) {
      if (!in_fields) return fail("a field before \"format:\"");
      Field field;
      if (auto cause = parse_field(line, field, target)) return fail(*cause);
      if (!after_common && !field.name.starts_with("common_")) after_common = true;
      if (!after_common) ++type.common_fields;
      type.fields.push_back(std::move(field));
    } else if (line.empty()) {
      if (type.common_fields > 0) after_common = true;
    } else if (line.starts_with("print fmt:")) {
      type.print_format = trim(text.substr(text.find("print fmt:", at) + 10));
      break;
    }
    at = end + 1;
  }
  if (type.name.empty()) return Error{"", 0, "an event format without a name"};
  if (!has_id) return Error{"", 0, "the format of event " + type.name + " has no ID"};
  type.tid = type.ref("common_pid");
  type.meaning = trace::bind(trace::Tracer::Ftrace, type);
  return type;
}

}  // namespace strata::ftrace
