// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/tsdl_types.h"

namespace strata::ctf::tsdl {

std::optional<uint64_t> as_unsigned(const Value& value) {
  const auto* number = std::get_if<Number>(&value.what);
  if (!number || (number->negative && number->magnitude != 0)) return std::nullopt;
  return number->magnitude;
}

std::optional<int64_t> as_signed(const Value& value) {
  const auto* number = std::get_if<Number>(&value.what);
  if (!number) return std::nullopt;
  if (number->negative) return static_cast<int64_t>(0 - number->magnitude);
  if (number->magnitude > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<int64_t>(number->magnitude);
}

std::optional<bool> as_boolean(const Value& value) {
  if (const auto* number = std::get_if<Number>(&value.what)) return number->magnitude != 0;
  const auto* path = std::get_if<Path>(&value.what);
  if (!path || path->names.size() != 1) return std::nullopt;
  const std::string& word = path->names[0];
  if (word == "true" || word == "TRUE" || word == "True") return true;
  if (word == "false" || word == "FALSE" || word == "False") return false;
  return std::nullopt;
}

std::optional<std::string> as_text(const Value& value) {
  if (const auto* literal = std::get_if<std::string>(&value.what)) return *literal;
  if (const auto* path = std::get_if<Path>(&value.what)) return path->joined();
  return std::nullopt;
}

std::optional<ByteOrder> as_byte_order(const Value& value, std::optional<ByteOrder> native) {
  const auto* path = std::get_if<Path>(&value.what);
  if (!path || path->names.size() != 1) return std::nullopt;
  const std::string& word = path->names[0];
  if (word == "le") return ByteOrder::Little;
  if (word == "be" || word == "network") return ByteOrder::Big;
  if (word == "native") return native;
  return std::nullopt;
}

}  // namespace strata::ctf::tsdl
