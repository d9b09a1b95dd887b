// SPDX-License-Identifier: Apache-2.0
#include "trace/field_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace strata::trace {
namespace {

void put_integer(int64_t value, bool is_signed, TextBuffer& out) {
  if (is_signed) {
    out.put_decimal(value);
  } else {
    out.put_decimal(static_cast<uint64_t>(value));
  }
}

void put_array(Bytes bytes, const FieldRef& field, TextBuffer& out) {
  for (FieldRef element = field.element(); bytes.size() - element.offset >= element.size;
       element.offset += element.size) {
    if (element.offset > 0) out.put(std::string_view(", "));
    put_integer(read_integer(bytes, element).value_or(0), element.is_signed, out);
  }
}

// The shortest decimal that reads back as the same number.
void put_float(double value, TextBuffer& out) {
  char* at = out.room(32);
  out.advance_to(std::to_chars(at, at + 32, value).ptr);
}

// How many bytes at the start of `text` are one character of UTF-8; 0 where they are none.
size_t utf8_character(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  size_t length = first < 0x80   ? 1
                  : first < 0xc2 ? 0
                  : first < 0xe0 ? 2
                  : first < 0xf0 ? 3
                  : first < 0xf5 ? 4
                                 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Longer than needed, a surrogate, or beyond Unicode.
  if (length == 3 && ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)))
    return 0;
  if (length == 4 && ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)))
    return 0;
  return length;
}

// Characters that stand for themselves in a JSON string.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t i = 0x20; i < 0x7f; ++i) plain[i] = i != '"' && i != '\\';
  return plain;
}();

}  // namespace

void put_field_text(const Event& event, const FieldRef& field, TextBuffer& out) {
  switch (field.kind) {
    case ValueKind::Text:
      out.put(event.text(field));
      return;
    case ValueKind::Array:
      out.put('{');
      put_array(event.bytes(field), field, out);
      out.put('}');
      return;
    case ValueKind::Float:
      if (const std::optional<double> value = event.real(field)) put_float(*value, out);
      return;
    case ValueKind::Compound:
      out.put(std::string_view("{...}"));
      return;
    case ValueKind::Integer:
    case ValueKind::Pointer:
      break;
  }
  std::optional<int64_t> value = event.integer(field);
  if (!value) return;
  if (field.kind == ValueKind::Pointer) {
    out.put(std::string_view("0x"));
    out.put_hex(static_cast<uint64_t>(*value));
  } else {
    put_integer(*value, field.is_signed, out);
  }
}

void put_field_json(const Event& event, const FieldRef& field, TextBuffer& out) {
  switch (field.kind) {
    case ValueKind::Text:
      put_json_string(event.text(field), out);
      return;
    case ValueKind::Array:
      out.put('[');
      put_array(event.bytes(field), field, out);
      out.put(']');
      return;
    case ValueKind::Float: {
      // JSON has no infinities.
      const std::optional<double> value = event.real(field);
      if (value && std::isfinite(*value))
        put_float(*value, out);
      else
        out.put(std::string_view("null"));
      return;
    }
    case ValueKind::Compound:
      out.put(std::string_view("null"));
      return;
    case ValueKind::Integer:
    case ValueKind::Pointer:
      break;
  }
  std::optional<int64_t> value = event.integer(field);
  if (!value) {
    out.put(std::string_view("null"));
  } else if (field.kind == ValueKind::Pointer) {
    out.put(std::string_view("\"0x"));
    out.put_hex(static_cast<uint64_t>(*value));
    out.put('"');
  } else {
    put_integer(*value, field.is_signed, out);
  }
}

void put_json_string(std::string_view text, TextBuffer& out) {
  // The longest form of a byte is six characters: \u001f, \ufffd.
  char* at = out.room(text.size() * 6 + 2);
  *at++ = '"';
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (kPlain[static_cast<unsigned char>(c)]) [[likely]] {
      *at++ = c;
      ++i;
      continue;
    }
    size_t length = utf8_character(text.substr(i));
    if (length > 1) {
      std::memcpy(at, text.data() + i, length);
      at += length;
      i += length;
      continue;
    }
    ++i;
    if (length == 0) {
      std::memcpy(at, "\\ufffd", 6);
      at += 6;
      continue;
    }
    *at++ = '\\';
    switch (c) {
      case '"':
      case '\\':
        *at++ = c;
        break;
      case '\n':
        *at++ = 'n';
        break;
      case '\t':
        *at++ = 't';
        break;
      case '\r':
        *at++ = 'r';
        break;
      default: {
        const auto code = static_cast<unsigned char>(c);
        std::memcpy(at, "u00", 3);
        at[3] = "0123456789abcdef"[code >> 4];
        at[4] = "0123456789abcdef"[code & 15];
        at += 5;
      }
    }
  }
  *at++ = '"';
  out.advance_to(at);
}

}  // namespace strata::trace
