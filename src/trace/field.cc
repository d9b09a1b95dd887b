// SPDX-License-Identifier: Apache-2.0
#include "trace/field.h"

#include <algorithm>
#include <bit>

namespace strata::trace {

FieldRef::FieldRef(const Field& field, ByteOrder order)
    : offset(field.offset),
      size(field.size),
      location(field.location),
      base(field.base),
      end_base(field.end_base),
      element_size(static_cast<uint8_t>(field.element_size <= 8 ? field.element_size : 0)),
      kind(field.kind),
      is_signed(field.is_signed),
      swap(field.order.value_or(order) != kNativeOrder),
      big(field.order.value_or(order) == ByteOrder::Big) {
  set_load();
}

void FieldRef::set_load() {
  load = IntegerLoad::Other;
  if (location > Location::Based || (swap && size > 1)) return;
  switch (size) {
    case 1:
      load = is_signed ? IntegerLoad::I8 : IntegerLoad::U8;
      break;
    case 2:
      load = is_signed ? IntegerLoad::I16 : IntegerLoad::U16;
      break;
    case 4:
      load = is_signed ? IntegerLoad::I32 : IntegerLoad::U32;
      break;
    case 8:
      load = IntegerLoad::U64;
      break;
    default:
      break;
  }
}

FieldRef FieldRef::plain() const {
  FieldRef ref = *this;
  ref.location = Location::InPlace;
  ref.is_signed = false;
  ref.set_load();
  return ref;
}

FieldRef FieldRef::element() const {
  FieldRef ref = *this;
  ref.location = Location::InPlace;
  ref.size = std::has_single_bit(element_size) ? element_size : 1;
  ref.offset = 0;
  ref.set_load();
  return ref;
}

uint64_t read_bits(const std::byte* bytes, uint64_t first, uint32_t count, bool big_endian) {
  // Whole words of the other byte order are common enough to be worth a load.
  if (first % 8 == 0 && (count == 32 || count == 64)) {
    const bool swap = big_endian != (kNativeOrder == ByteOrder::Big);
    bytes += first / 8;
    return count == 32 ? load<uint32_t>(bytes, swap) : load<uint64_t>(bytes, swap);
  }
  uint64_t value = 0;
  uint32_t done = 0;
  while (done < count) {
    const uint64_t bit = first + done;
    const auto in_byte = static_cast<uint32_t>(bit % 8);
    const uint32_t take = std::min(8 - in_byte, count - done);
    const auto byte = static_cast<uint32_t>(load_once<uint8_t>(bytes + bit / 8));
    const uint32_t mask = (1u << take) - 1;
    if (big_endian)
      value = value << take | ((byte >> (8 - in_byte - take)) & mask);
    else
      value |= uint64_t{(byte >> in_byte) & mask} << done;
    done += take;
  }
  return value;
}

void write_bits(std::byte* bytes, uint64_t first, uint32_t count, bool big_endian, uint64_t value) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t bit = first + i;
    const uint64_t significance = big_endian ? count - 1 - i : i;
    const auto in_byte = static_cast<unsigned>(big_endian ? 7 - bit % 8 : bit % 8);
    std::byte& byte = bytes[bit / 8];
    byte &= ~(std::byte{1} << in_byte);
    byte |= static_cast<std::byte>(value >> significance & 1) << in_byte;
  }
}

std::optional<int64_t> read_other_integer(Bytes record, const FieldRef& ref, Bases bases) {
  const bool in_bits = ref.location == Location::BasedBits;
  if (ref.location == Location::Span || ref.size == 0) return std::nullopt;
  uint64_t bits = uint64_t{ref.size} * 8;
  uint64_t first = uint64_t{ref.offset} * 8;
  if (in_bits) {
    bits = ref.size;
    first = uint64_t{bases[ref.base]} + ref.offset;
  } else if (ref.location == Location::Based) {
    first += bases[ref.base] & ~7u;
  }
  // What lies in whole bytes is an integer of a size that a processor has. An absent base is beyond
  // every record.
  if (bits > 64 || !(in_bits || std::has_single_bit(bits)) || first + bits > record.size() * 8)
    return std::nullopt;
  const uint64_t value = read_bits(record.data(), first, static_cast<uint32_t>(bits), ref.big);
  const uint64_t unused = 64 - bits;
  return ref.is_signed ? static_cast<int64_t>(value << unused) >> unused
                       : static_cast<int64_t>(value);
}

Bytes read_bytes(Bytes record, const FieldRef& ref, Bases bases) {
  if (ref.location >= Location::Based) {
    const uint32_t base = bases[ref.base];
    if (base == kAbsent || ref.location == Location::BasedBits) return {};
    const uint64_t begin = base / 8 + uint64_t{ref.offset};
    const uint64_t end =
        ref.location == Location::Span ? bases[ref.end_base] / 8 : begin + ref.size;
    if (begin > end || end > record.size()) return {};
    return record.subspan(begin, end - begin);
  }
  if (ref.size == 0 || record.size() < ref.size || record.size() - ref.size < ref.offset) return {};
  if (ref.location == Location::InPlace) return record.subspan(ref.offset, ref.size);
  if (ref.size < sizeof(uint32_t)) return {};
  const auto locator = load<uint32_t>(record.data() + ref.offset, ref.swap);
  const uint64_t length = locator >> 16;
  uint64_t offset = locator & 0xffff;
  if (ref.location == Location::RelLoc) offset += uint64_t{ref.offset} + ref.size;
  if (offset > record.size() || record.size() - offset < length) return {};
  return record.subspan(offset, length);
}

std::string_view read_text(Bytes record, const FieldRef& ref, Bases bases) {
  const std::string_view text = as_text(read_bytes(record, ref, bases));
  return text.substr(0, text.find('\0'));
}

std::optional<double> read_float(Bytes record, const FieldRef& ref, Bases bases) {
  const Bytes bytes = read_bytes(record, ref, bases);
  if (bytes.size() == 4) return std::bit_cast<float>(load<uint32_t>(bytes.data(), ref.swap));
  if (bytes.size() == 8) return std::bit_cast<double>(load<uint64_t>(bytes.data(), ref.swap));
  return std::nullopt;
}

}  // namespace strata::trace
