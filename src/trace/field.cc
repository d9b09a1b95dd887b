// SPDX-License-Identifier: Apache-2.0
#include "trace/field.h"

#include <limits>

namespace strata::trace {

FieldRef::FieldRef(const Field& field, ByteOrder order)
    : offset(field.offset),
      size(field.size),
      element_size(static_cast<uint8_t>(field.element_size <= 8 ? field.element_size : 0)),
      location(field.location),
      kind(field.kind),
      is_signed(field.is_signed),
      swap(order != kNativeOrder) {}

Bytes read_bytes(Bytes record, FieldRef ref) {
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

std::string_view read_text(Bytes record, FieldRef ref) {
  const std::string_view text = as_text(read_bytes(record, ref));
  return text.substr(0, text.find('\0'));
}

}  // namespace strata::trace
