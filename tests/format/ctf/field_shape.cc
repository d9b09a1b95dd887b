// SPDX-License-Identifier: Apache-2.0
#include "field_shape.h"

#include <array>

namespace strata::ctf {
namespace {

constexpr std::array<std::string_view, 6> kScopes = {"packet-header", "packet",  "header",
                                                     "common",        "context", "payload"};
constexpr std::array<std::string_view, 12> kRoles = {
    "None",    "Magic",     "Uuid", "StreamClass", "Stream",   "Total",
    "Content", "Timestamp", "End",  "Discarded",   "Sequence", "Event"};

std::string spelled(const FieldPath& path) {
  std::string text(kScopes[static_cast<size_t>(path.scope)]);
  for (const std::string& name : path.names)
    text += (&name == path.names.data() ? ":" : ".") + name;
  return text;
}

std::string spelled(const std::vector<IntegerRange>& ranges, bool is_signed) {
  const auto number = [&](int64_t bits) {
    return is_signed ? std::to_string(bits) : std::to_string(static_cast<uint64_t>(bits));
  };
  std::string text;
  for (const IntegerRange& range : ranges) {
    text += (text.empty() ? "" : ",") + number(range.first);
    if (range.last != range.first) text += ".." + number(range.last);
  }
  return text;
}

std::string integer_shape(const Integer& integer) {
  std::string text = integer.is_bool ? "bool" : integer.is_signed ? "s" : "u";
  text += integer.size == 0 ? "leb" : std::to_string(integer.size);
  if (integer.size != 0 && integer.order == ByteOrder::Big) text += "be";
  if (integer.reversed_bits) text += "reversed";
  return text;
}

std::string integer_details(const Integer& integer) {
  std::string text;
  if (integer.base != 10) text += integer.base == 16 ? " x" : integer.base == 8 ? " o" : " b";
  if (integer.is_enum || integer.is_bit_map) {
    text += integer.is_enum ? " enum{" : " bits{";
    for (const Mapping& mapping : integer.mappings)
      text += (&mapping == integer.mappings.data() ? "" : ",") + mapping.name + "=" +
              spelled(mapping.ranges, integer.is_signed);
    text += "}";
  }
  if (integer.role != FieldRole::None)
    text += " =" + std::string(kRoles[static_cast<size_t>(integer.role)]);
  if (integer.is_clock) text += " clock";
  return text;
}

std::string text_shape(const Text& text) {
  constexpr std::array<std::string_view, 5> kEncodings = {"", "utf-16be ", "utf-16le ", "utf-32be ",
                                                          "utf-32le "};
  std::string shape = std::string(kEncodings[static_cast<size_t>(text.encoding)]) + "text";
  if (text.extent == Text::Extent::Fixed) shape += "[" + std::to_string(text.length) + "]";
  if (text.extent == Text::Extent::Counted) shape += "[" + spelled(text.count) + "]";
  return shape;
}

std::string at(uint32_t alignment, uint32_t usual) {
  return alignment == usual ? "" : "@" + std::to_string(alignment);
}

}  // namespace

std::string shape(const FieldClassPtr& type) { return type ? shape(*type) : "none"; }

std::string shape(const FieldClass& type) {
  if (const auto* integer = std::get_if<Integer>(&type.kind))
    return integer_shape(*integer) + at(type.alignment, 1) + integer_details(*integer);
  if (const auto* number = std::get_if<Float>(&type.kind))
    return "f" + std::to_string(number->size) + (number->order == ByteOrder::Big ? "be" : "") +
           at(type.alignment, 1);
  if (const auto* text = std::get_if<Text>(&type.kind))
    return text_shape(*text) + at(type.alignment, 8);
  if (const auto* blob = std::get_if<Blob>(&type.kind)) {
    std::string shape =
        "blob[" + (blob->length ? std::to_string(*blob->length) : spelled(blob->count)) + "]";
    if (blob->media_type != "application/octet-stream") shape += " " + blob->media_type;
    return shape + at(type.alignment, 8) + (blob->role == FieldRole::MetadataUuid ? " =Uuid" : "");
  }
  if (const auto* array = std::get_if<Array>(&type.kind))
    return "[" + (array->length ? std::to_string(*array->length) : spelled(array->count)) + "]" +
           at(type.alignment, array->element->alignment) + shape(*array->element);
  if (const auto* structure = std::get_if<Structure>(&type.kind)) {
    std::string text = "{";
    for (const Member& member : structure->members)
      text += (&member == structure->members.data() ? "" : ",") + member.name + ":" +
              shape(*member.type);
    return text + "}@" + std::to_string(type.alignment);
  }
  if (const auto* variant = std::get_if<Variant>(&type.kind)) {
    std::string text = "<" + spelled(variant->selector) + ">" + at(type.alignment, 1) + "(";
    for (const Variant::Choice& choice : variant->choices)
      text += (&choice == variant->choices.data() ? "" : "|") + choice.name + "=" +
              spelled(choice.ranges, variant->selector_is_signed) + ":" + shape(*choice.type);
    return text + ")";
  }
  const auto& optional = std::get<Optional>(type.kind);
  std::string text = "?<" + spelled(optional.selector) + ">" + at(type.alignment, 1);
  if (!optional.ranges.empty()) text += spelled(optional.ranges, optional.selector_is_signed) + ":";
  return text + shape(*optional.type);
}

}  // namespace strata::ctf
