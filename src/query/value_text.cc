// SPDX-License-Identifier: Apache-2.0
#include "query/value_text.h"

#include <algorithm>

namespace strata::query {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

void put_hex(unsigned char byte, std::string& out) {
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

}  // namespace

std::string value_text(const Statement& statement, size_t column) {
  if (statement.type(column) != ValueType::Blob) return std::string(statement.text(column));
  std::string text;
  for (const char byte : statement.blob(column)) put_hex(static_cast<unsigned char>(byte), text);
  return text;
}

std::string harmless(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // The second half of the control characters takes two bytes of UTF-8.
    const bool is_c1 = byte == 0xc2 && i + 1 < text.size() &&
                       (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80;
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f || is_c1) {
      out += "\\x";
      put_hex(is_c1 ? static_cast<unsigned char>(text[++i]) : byte, out);
    } else {
      out += text[i];
    }
  }
  return out;
}

size_t shown_width(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace strata::query
