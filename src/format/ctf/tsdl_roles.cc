// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/tsdl_roles.h"

#include <string_view>

namespace strata::ctf::tsdl {
namespace {

constexpr uint64_t kUuidSize = 16;

FieldRole role_of(std::string_view name, Scope scope) {
  switch (scope) {
    case Scope::PacketHeader:
      if (name == "magic") return FieldRole::PacketMagic;
      if (name == "uuid") return FieldRole::MetadataUuid;
      if (name == "stream_id") return FieldRole::StreamClassId;
      if (name == "stream_instance_id") return FieldRole::StreamId;
      break;
    case Scope::PacketContext:
      if (name == "packet_size") return FieldRole::PacketTotalLength;
      if (name == "content_size") return FieldRole::PacketContentLength;
      if (name == "timestamp_begin") return FieldRole::Timestamp;
      if (name == "timestamp_end") return FieldRole::PacketEndTimestamp;
      if (name == "events_discarded") return FieldRole::DiscardedEvents;
      if (name == "packet_seq_num") return FieldRole::PacketSequenceNumber;
      break;
    case Scope::EventHeader:
      if (name == "id") return FieldRole::EventClassId;
      if (name == "timestamp") return FieldRole::Timestamp;
      break;
    default:
      break;
  }
  return FieldRole::None;
}

void give_role(FieldClass& field, FieldRole role) {
  if (role == FieldRole::None) return;
  if (role == FieldRole::MetadataUuid) {
    const auto* array = std::get_if<Array>(&field.kind);
    if (!array || array->length != kUuidSize || array->element->alignment != 8) return;
    const auto* byte = std::get_if<Integer>(&array->element->kind);
    if (!byte || byte->size != 8) return;
    Blob uuid;
    uuid.length = kUuidSize;
    uuid.role = role;
    field.kind = std::move(uuid);
    return;
  }
  if (auto* integer = std::get_if<Integer>(&field.kind)) integer->role = role;
}

// Calls `visit` for every integer that is not in an array.
template <typename Field, typename Visit>
void visit_integers(Field& field, const Visit& visit) {
  if (auto* integer = std::get_if<Integer>(&field.kind)) {
    visit(*integer);
  } else if (auto* structure = std::get_if<Structure>(&field.kind)) {
    for (auto& member : structure->members) visit_integers(*member.type, visit);
  } else if (auto* variant = std::get_if<Variant>(&field.kind)) {
    for (auto& choice : variant->choices) visit_integers(*choice.type, visit);
  }
}

}  // namespace

void give_roles(FieldClass& fields, Scope scope) {
  if (auto* structure = std::get_if<Structure>(&fields.kind)) {
    for (Member& member : structure->members) {
      give_role(*member.type, role_of(member.name, scope));
      // Only the headers of events are built of parts, of which one is chosen.
      if (scope == Scope::EventHeader) give_roles(*member.type, scope);
    }
  } else if (auto* variant = std::get_if<Variant>(&fields.kind)) {
    for (Variant::Choice& choice : variant->choices) give_roles(*choice.type, scope);
  }
}

bool map_times(FieldClass& fields) {
  bool found = false;
  visit_integers(fields, [&](Integer& integer) {
    if (integer.role != FieldRole::Timestamp && integer.role != FieldRole::PacketEndTimestamp)
      return;
    integer.is_clock = true;
    found = true;
  });
  return found;
}

bool has_role(const FieldClass& fields, FieldRole role) {
  bool found = false;
  visit_integers(fields, [&](const Integer& integer) { found = found || integer.role == role; });
  return found;
}

}  // namespace strata::ctf::tsdl
