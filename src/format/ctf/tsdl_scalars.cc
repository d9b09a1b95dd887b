// SPDX-License-Identifier: Apache-2.0
//
// Of the TypeBuilder: types that hold no others, which are made of attributes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "format/ctf/tsdl_types.h"

namespace strata::ctf::tsdl {
namespace {

constexpr uint64_t kGreatestAlignment = uint64_t{1} << 31;
constexpr uint32_t kLongestInteger = 64;

// Arrays of characters are strings; in which of these two encodings makes no difference.
std::optional<bool> is_text_encoding(const Value& value) {
  std::optional<std::string> name = as_text(value);
  if (!name) return std::nullopt;
  for (char& c : *name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (*name == "utf8" || *name == "utf-8" || *name == "ascii") return true;
  if (*name == "none") return false;
  return std::nullopt;
}

std::optional<uint8_t> as_base(const Value& value) {
  if (std::optional<uint64_t> number = as_unsigned(value)) {
    if (*number == 2 || *number == 8 || *number == 10 || *number == 16)
      return static_cast<uint8_t>(*number);
    return std::nullopt;
  }
  constexpr std::pair<std::string_view, uint8_t> kBases[] = {
      {"decimal", 10}, {"dec", 10},   {"d", 10},  {"i", 10}, {"u", 10},    {"hexadecimal", 16},
      {"hex", 16},     {"x", 16},     {"X", 16},  {"p", 16}, {"octal", 8}, {"oct", 8},
      {"o", 8},        {"binary", 2}, {"bin", 2}, {"b", 2}};
  std::optional<std::string> name = as_text(value);
  for (const auto& [known, base] : kBases)
    if (name == known) return base;
  return std::nullopt;
}

std::optional<uint32_t> as_alignment(const Value& value) {
  std::optional<uint64_t> number = as_unsigned(value);
  if (!number || !std::has_single_bit(*number) || *number > kGreatestAlignment) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

// The name in clock.NAME.value; empty: it says something else.
std::string clock_name(const Value& value) {
  const auto* path = std::get_if<Path>(&value.what);
  if (!path || path->names.size() != 3 || path->names[0] != "clock" || path->names[2] != "value")
    return {};
  return path->names[1];
}

// An attribute that is there a second time; null: none is.
const Attribute* find_repeated(const std::vector<Attribute>& attributes) {
  std::unordered_map<std::string_view, int> seen;
  for (const Attribute& attribute : attributes)
    if (!seen.emplace(attribute.name, 0).second) return &attribute;
  return nullptr;
}

constexpr std::string_view kNoAlignment = "expected an alignment: a power of two";
constexpr std::string_view kNoByteOrder = "expected a byte order: le, be, network or native";
constexpr std::string_view kNoEncoding = "expected an encoding: UTF8, ASCII or none";

}  // namespace

bool TypeBuilder::read_attributes(const std::vector<Attribute>& attributes,
                                  const std::function<std::string_view(const Attribute&)>& take) {
  if (const Attribute* repeated = find_repeated(attributes))
    return fail(repeated->place, fmt::format("'{}' is said twice", repeated->name));
  for (const Attribute& attribute : attributes) {
    const std::string_view problem = take(attribute);
    if (!problem.empty()) return fail(attribute.value.place, problem);
  }
  return true;
}

TypePtr TypeBuilder::build_integer(const ScalarSpecifier& specifier, Place place) {
  IntegerType type;
  type.integer.order = surroundings_.order;
  std::optional<uint32_t> alignment;
  bool has_size = false;
  const auto take = [&](const Attribute& attribute) {
    const Value& value = attribute.value;
    std::string_view problem;
    if (attribute.name == "size") {
      std::optional<uint64_t> size = as_unsigned(value);
      has_size = size && *size >= 1 && *size <= kLongestInteger;
      if (has_size) type.integer.size = static_cast<uint32_t>(*size);
      if (!has_size) problem = "expected a size: 1 to 64 bits";
    } else if (attribute.name == "align") {
      alignment = as_alignment(value);
      if (!alignment) problem = kNoAlignment;
    } else if (attribute.name == "signed") {
      std::optional<bool> is_signed = as_boolean(value);
      type.integer.is_signed = is_signed.value_or(false);
      if (!is_signed) problem = "expected true or false";
    } else if (attribute.name == "byte_order") {
      std::optional<ByteOrder> order = as_byte_order(value, surroundings_.order);
      type.integer.order = order.value_or(surroundings_.order);
      if (!order) problem = kNoByteOrder;
    } else if (attribute.name == "base") {
      std::optional<uint8_t> base = as_base(value);
      type.integer.base = base.value_or(10);
      if (!base) problem = "expected a base: 2, 8, 10, 16 or one of their names";
    } else if (attribute.name == "encoding") {
      std::optional<bool> is_character = is_text_encoding(value);
      type.is_character = is_character.value_or(false);
      if (!is_character) problem = kNoEncoding;
    } else if (attribute.name == "map") {
      if (!std::holds_alternative<Path>(value.what)) problem = "expected clock.NAME.value";
      const std::string name = clock_name(value);
      const auto& clocks = surroundings_.clocks;
      auto found = std::find(clocks.begin(), clocks.end(), name);
      if (found != clocks.end()) type.clock = static_cast<size_t>(found - clocks.begin());
      if (found == clocks.end() && !name.empty()) type.unknown_clock = value.place;
    }  // others are not ours
    return problem;
  };
  if (!read_attributes(specifier.attributes, take)) return nullptr;
  if (!has_size) {
    fail(place, "the integer has no size");
    return nullptr;
  }
  type.integer.is_clock = type.clock.has_value();
  const uint32_t packed = type.integer.size % 8 == 0 ? 8 : 1;
  return finish(Type{type, alignment.value_or(packed), 1}, place);
}

TypePtr TypeBuilder::build_float(const ScalarSpecifier& specifier, Place place) {
  Float type;
  type.order = surroundings_.order;
  uint32_t alignment = 8;
  std::optional<uint64_t> exponent, mantissa;
  const auto take = [&](const Attribute& attribute) {
    const Value& value = attribute.value;
    std::string_view problem;
    if (attribute.name == "exp_dig") {
      exponent = as_unsigned(value);
      if (!exponent) problem = "expected a number of bits";
    } else if (attribute.name == "mant_dig") {
      mantissa = as_unsigned(value);
      if (!mantissa) problem = "expected a number of bits";
    } else if (attribute.name == "byte_order") {
      std::optional<ByteOrder> order = as_byte_order(value, surroundings_.order);
      type.order = order.value_or(surroundings_.order);
      if (!order) problem = kNoByteOrder;
    } else if (attribute.name == "align") {
      std::optional<uint32_t> wanted = as_alignment(value);
      alignment = wanted.value_or(8);
      if (!wanted) problem = kNoAlignment;
    }
    return problem;
  };
  if (!read_attributes(specifier.attributes, take)) return nullptr;
  constexpr std::pair<uint64_t, uint64_t> kFormats[] = {{5, 11}, {8, 24}, {11, 53}, {15, 113}};
  for (const auto& [bits_of_exponent, bits_of_mantissa] : kFormats) {
    if (exponent != bits_of_exponent || mantissa != bits_of_mantissa) continue;
    type.size = static_cast<uint32_t>(bits_of_exponent + bits_of_mantissa);
    return finish(Type{type, alignment, 1}, place);
  }
  fail(place, "expected exp_dig and mant_dig of an IEEE 754 number of 16, 32, 64 or 128 bits");
  return nullptr;
}

TypePtr TypeBuilder::build_string(const ScalarSpecifier& specifier) {
  for (const Attribute& attribute : specifier.attributes) {
    if (attribute.name == "encoding" && !is_text_encoding(attribute.value)) {
      fail(attribute.value.place, kNoEncoding);
      return nullptr;
    }
  }
  return std::make_shared<const Type>(Type{StringType{}, 8, 1});
}

// Here and not beside the other compounds, for the alignment's sake.
TypePtr TypeBuilder::build_structure(const StructSpecifier& specifier, Place place, Names& names) {
  const std::string name = "struct " + specifier.name;
  if (!specifier.has_body) {
    TypePtr type = names.find(name);
    if (!type) fail(place, fmt::format("there is no '{}' here", name));
    return type;
  }
  Names inner(&names);
  StructType structure{build_body(specifier.body, inner)};
  if (!structure.members) return nullptr;
  Type type{structure, 1, 1};
  if (specifier.alignment) {
    std::optional<uint32_t> alignment = as_alignment(*specifier.alignment);
    if (!alignment) {
      fail(specifier.alignment->place, kNoAlignment);
      return nullptr;
    }
    type.alignment = *alignment;
  }
  for (const NamedType& member : structure.members->list)
    type.alignment = std::max(type.alignment, member.type->alignment);
  TypePtr finished = finish(std::move(type), place);
  if (finished && !specifier.name.empty() && !add(names, name, finished, place)) return nullptr;
  return finished;
}

}  // namespace strata::ctf::tsdl
