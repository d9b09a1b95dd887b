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

}  // namespace

std::optional<size_t> encoded_size(std::span<const NewField> fields,
                                   std::span<const Value> values) {
  if (fields.size() != values.size()) return std::nullopt;
  size_t size = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    const NewField& field = fields[i];
    const Value& value = values[i];
    using enum NewFieldKind;
    switch (field.kind) {
      case Integer:
      case Enum:
        if (!value.is_integer()) return std::nullopt;
        size += field.bits / 8;
        continue;
      case Float:
        if (value.has_bytes()) return std::nullopt;
        size += field.bits / 8;
        continue;
      default:
        break;
    }
    if (!value.has_bytes()) return std::nullopt;
    if (field.kind == String)
      size += string_bytes(value).size() + 1;
    else if (field.kind == Text || field.kind == Array)
      size += size_t{field.length} * field.bits / 8;
    else
      size += field.count_bits / 8 + sequence_bytes(field, value).size();
  }
  return size;
}

std::byte* encode(std::span<const NewField> fields, std::span<const Value> values, std::byte* out) {
  for (size_t i = 0; i < fields.size(); ++i) {
    const NewField& field = fields[i];
    const Value& value = values[i];
    using enum NewFieldKind;
    switch (field.kind) {
      case Integer:
      case Enum:
        out = put_integer(value.number(), field.bits, field.order, out);
        break;
      case Float:
        out = put_float(value.real(), field, out);
        break;
      case String:
        out = put_bytes(string_bytes(value), out);
        *out++ = std::byte{0};
        break;
      case Text:
      case Array: {
        const size_t size = size_t{field.length} * field.bits / 8;
        const size_t told = std::min(value.bytes().size(), size);
        out = put_bytes(value.bytes().first(told), out);
        std::memset(out, 0, size - told);
        out += size - told;
        break;
      }
      case Sequence:
      case TextSequence: {
        const Bytes elements = sequence_bytes(field, value);
        out = put_integer(elements.size() / (field.bits / 8), field.count_bits, ByteOrder::Little,
                          out);
        out = put_bytes(elements, out);
        break;
      }
    }
  }
  return out;
}

}  // namespace strata::ctf
