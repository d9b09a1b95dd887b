// SPDX-License-Identifier: Apache-2.0
//
// Of the FieldReader: fields of so many bits, and what integers are for.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "format/ctf/ctf2_fields.h"

namespace strata::ctf::ctf2 {
namespace {

constexpr uint64_t kLongestInteger = 64;

// Which role has a meaning where; elsewhere it has none, as an alias may stand in several scopes.
struct KnownRole {
  std::string_view name;
  Scope scope;
  FieldRole role;
};
constexpr KnownRole kRoles[] = {
    {"packet-magic-number", Scope::PacketHeader, FieldRole::PacketMagic},
    {"data-stream-class-id", Scope::PacketHeader, FieldRole::StreamClassId},
    {"data-stream-id", Scope::PacketHeader, FieldRole::StreamId},
    {"packet-total-length", Scope::PacketContext, FieldRole::PacketTotalLength},
    {"packet-content-length", Scope::PacketContext, FieldRole::PacketContentLength},
    {"default-clock-timestamp", Scope::PacketContext, FieldRole::Timestamp},
    {"packet-end-default-clock-timestamp", Scope::PacketContext, FieldRole::PacketEndTimestamp},
    {"discarded-event-record-counter-snapshot", Scope::PacketContext, FieldRole::DiscardedEvents},
    {"packet-sequence-number", Scope::PacketContext, FieldRole::PacketSequenceNumber},
    {"event-record-class-id", Scope::EventHeader, FieldRole::EventClassId},
    {"default-clock-timestamp", Scope::EventHeader, FieldRole::Timestamp},
};

}  // namespace

bool FieldReader::read_bits(const Json& json, const std::string& type, FieldClass& to) {
  const std::string_view kind =
      std::string_view(type).substr(std::string_view("fixed-length-").size());
  const bool is_float = kind == "floating-point-number";
  if (!is_float && kind != "bit-array" && kind != "bit-map" && kind != "boolean" &&
      kind != "unsigned-integer" && kind != "signed-integer") {
    Fragment::At at(*fragment_, "type");
    return fragment_->fail(fmt::format("\"{}\" is no type of a field class", type));
  }
  uint64_t length = 0;
  std::string byte_order, bit_order;
  if (!fragment_->take(json, "length", length, Need::Required) ||
      !fragment_->take(json, "byte-order", byte_order, Need::Required) ||
      !fragment_->take(json, "bit-order", bit_order) ||
      !fragment_->take_alignment(json, "alignment", to.alignment))
    return false;
  if (byte_order != "little-endian" && byte_order != "big-endian") {
    Fragment::At at(*fragment_, "byte-order");
    return fragment_->fail("expected little-endian or big-endian");
  }
  const ByteOrder order = byte_order == "big-endian" ? ByteOrder::Big : ByteOrder::Little;
  const std::string_view usual = order == ByteOrder::Big ? "last-to-first" : "first-to-last";
  if (!bit_order.empty() && bit_order != "first-to-last" && bit_order != "last-to-first") {
    Fragment::At at(*fragment_, "bit-order");
    return fragment_->fail("expected first-to-last or last-to-first");
  }
  const bool reversed = !bit_order.empty() && bit_order != usual;
  const bool is_length = is_float ? length == 16 || length == 32 || length == 64 || length == 128
                                  : length >= 1 && length <= kLongestInteger;
  if (!is_length) {
    Fragment::At at(*fragment_, "length");
    return fragment_->fail(is_float ? "expected 16, 32, 64 or 128 bits" : "expected 1 to 64 bits");
  }
  if (is_float) {
    if (reversed) return fragment_->fail("numbers with reversed bits are read as integers only");
    to.kind = Float{static_cast<uint32_t>(length), order};
    return true;
  }
  Integer integer;
  integer.size = static_cast<uint32_t>(length);
  integer.order = order;
  integer.reversed_bits = reversed;
  integer.is_signed = kind == "signed-integer";
  if (kind == "bit-array") {
    integer.base = 16;
  } else if (kind == "boolean") {
    integer.is_bool = true;
  } else if (kind == "bit-map") {
    integer.base = 16;
    integer.is_bit_map = true;
    if (!fragment_->find(json, "flags", Need::Required) || !read_mappings(json, "flags", integer))
      return false;
  } else if (!read_integer(json, integer)) {
    return false;
  }
  to.kind = std::move(integer);
  return true;
}

bool FieldReader::read_integer(const Json& json, Integer& to) {
  uint64_t base = 10;
  if (!fragment_->take(json, "preferred-display-base", base, Need::Optional)) return false;
  if (base != 2 && base != 8 && base != 10 && base != 16) {
    Fragment::At at(*fragment_, "preferred-display-base");
    return fragment_->fail("expected 2, 8, 10 or 16");
  }
  to.base = static_cast<uint8_t>(base);
  if (!read_mappings(json, "mappings", to)) return false;
  to.is_enum = !to.mappings.empty();
  return to.is_signed || read_roles(json, to);
}

bool FieldReader::read_roles(const Json& json, Integer& to) {
  const Json* roles = fragment_->find(json, "roles");
  if (!roles) return !fragment_->failed();
  Fragment::At at(*fragment_, "roles");
  if (!roles->is_array()) return fragment_->fail("expected an array");
  for (const Json& role : *roles) {
    if (!role.is_string()) return fragment_->fail("expected strings");
    for (const KnownRole& known : kRoles)
      if (known.scope == scope_ && known.name == role.get_ref<const std::string&>() &&
          (to.role == FieldRole::None || known.role < to.role))
        to.role = known.role;
  }
  to.is_clock = to.role == FieldRole::Timestamp || to.role == FieldRole::PacketEndTimestamp;
  has_times_ = has_times_ || to.is_clock;
  return true;
}

bool FieldReader::read_mappings(const Json& json, std::string_view key, Integer& to) {
  const Json* mappings = fragment_->find(json, key);
  if (!mappings) return !fragment_->failed();
  Fragment::At at(*fragment_, key);
  if (!mappings->is_object()) return fragment_->fail("expected an object");
  if (!budget_.spend(mappings->size()))
    return fragment_->fail("the aliases describe too many mappings for a text of this length");
  for (const auto& [name, ranges] : mappings->items()) {
    Fragment::At element(*fragment_, name);
    Mapping& mapping = to.mappings.emplace_back();
    mapping.name = name;
    if (!read_ranges(ranges, to.is_signed, mapping.ranges)) return false;
  }
  return true;
}

// [[first, last], ...]
bool FieldReader::read_ranges(const Json& json, bool is_signed, std::vector<IntegerRange>& to) {
  if (!json.is_array() || json.empty()) return fragment_->fail("expected an array of ranges");
  if (!budget_.spend(json.size()))
    return fragment_->fail("the aliases describe too many ranges for a text of this length");
  for (size_t i = 0; i < json.size(); ++i) {
    Fragment::At at(*fragment_, i);
    const Json& pair = json[i];
    if (!pair.is_array() || pair.size() != 2 || !is_integer(pair[0]) || !is_integer(pair[1]))
      return fragment_->fail("expected two integers");
    auto fits = [&](const Json& value) {
      if (!is_signed) return value.is_number_unsigned();
      return !value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t{INT64_MAX};
    };
    if (!fits(pair[0]) || !fits(pair[1]))
      return fragment_->fail("the range is beyond what the integer can be");
    const IntegerRange range{as_bits(pair[0]), as_bits(pair[1])};
    const bool backwards =
        is_signed ? range.first > range.last
                  : static_cast<uint64_t>(range.first) > static_cast<uint64_t>(range.last);
    if (backwards) return fragment_->fail("the range ends before it begins");
    to.push_back(range);
  }
  return true;
}

}  // namespace strata::ctf::ctf2
