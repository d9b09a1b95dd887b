// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/values.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace strata::ctf {
namespace {

// The low `bits` of `value` in the given byte order.
std::byte* put_integer(uint64_t value, unsigned bits, ByteOrder order, std::byte* out) {
  const size_t size = bits / 8;
  if (order != kNativeOrder) value = swap_bytes(value) >> (64 - bits);
  if constexpr (kNativeOrder == ByteOrder::Big) value <<= 64 - bits;
  std::memcpy(out, &value, size);
  return out + size;
}

std::byte* put_float(double value, const NewField& field, std::byte* out) {
  const uint64_t bits = field.bits == 32 ? std::bit_cast<uint32_t>(static_cast<float>(value))
                                         : std::bit_cast<uint64_t>(value);
  return put_integer(bits, field.bits, field.order, out);
}

std::byte* put_bytes(Bytes bytes, std::byte* out) {
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  return out + bytes.size();
}

// Up to a NUL: it would end the string for whoever reads it.
Bytes string_bytes(const Value& value) {
  const std::string_view text = as_text(value.bytes());
  return value.bytes().first(std::min(text.find('\0'), text.size()));
}

// A whole number of elements, as many as the count can tell.
Bytes sequence_bytes(const NewField& field, const Value& value) {
  const uint64_t element = field.bits / 8;
  uint64_t count = value.bytes().size() / element;
  if (field.count_bits < 64) count = std::min(count, (uint64_t{1} << field.count_bits) - 1);
  return value.bytes().first(count * element);
}

// What an array, or a text of a fixed length, takes.
size_t fixed_size(const NewField& field) { return size_t{field.length} * field.bits / 8; }

// Nothing where the value does not fit the field.
std::optional<size_t> size_of(const NewField& field, const Value& value) {
  using enum NewFieldKind;
  switch (field.kind) {
    case Integer:
    case Enum:
      return value.is_integer() ? std::optional<size_t>(field.bits / 8) : std::nullopt;
    case Float:
      return value.has_bytes() ? std::nullopt : std::optional<size_t>(field.bits / 8);
    default:
      break;
  }
  if (!value.has_bytes()) return std::nullopt;
  if (field.kind == String) return string_bytes(value).size() + 1;
  if (field.kind == Text || field.kind == Array) return fixed_size(field);
  return field.count_bits / 8 + sequence_bytes(field, value).size();
}

std::byte* put(const NewField& field, const Value& value, std::byte* out) {
  using enum NewFieldKind;
  switch (field.kind) {
    case Integer:
    case Enum:
      return put_integer(value.number(), field.bits, field.order, out);
    case Float:
      return put_float(value.real(), field, out);
    case String:
      out = put_bytes(string_bytes(value), out);
      *out++ = std::byte{0};
      return out;
    case Text:
    case Array: {
      const size_t size = fixed_size(field);
      const size_t told = std::min(value.bytes().size(), size);
      out = put_bytes(value.bytes().first(told), out);
      std::memset(out, 0, size - told);
      return out + (size - told);
    }
    case Sequence:
    case TextSequence:
    case FloatSequence: {
      const Bytes elements = sequence_bytes(field, value);
      out =
          put_integer(elements.size() / (field.bits / 8), field.count_bits, ByteOrder::Little, out);
      return put_bytes(elements, out);
    }
  }
  return out;
}

}  // namespace

std::optional<size_t> encoded_size(std::span<const NewField> fields,
                                   std::span<const Value> values) {
  if (fields.size() != values.size()) return std::nullopt;
  size_t size = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::optional<size_t> own = size_of(fields[i], values[i]);
    if (!own) return std::nullopt;
    size += *own;
  }
  return size;
}

std::byte* encode(std::span<const NewField> fields, std::span<const Value> values, std::byte* out) {
  for (size_t i = 0; i < fields.size(); ++i) out = put(fields[i], values[i], out);
  return out;
}

}  // namespace strata::ctf
