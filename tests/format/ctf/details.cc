// SPDX-License-Identifier: Apache-2.0
#include "details.h"

#include <fmt/format.h>

#include <array>
#include <map>

namespace strata::ctf {
namespace {

constexpr std::array<std::string_view, 15> kLogLevels = {
    "Emergency",      "Alert",        "Critical",         "Error",           "Warning",
    "Notice",         "Info",         "Debug (system)",   "Debug (program)", "Debug (process)",
    "Debug (module)", "Debug (unit)", "Debug (function)", "Debug (line)",    "Debug"};
constexpr std::array<std::string_view, 6> kScopes = {
    "Packet header",        "Packet context",         "Event header",
    "Event common context", "Event specific context", "Event payload"};

std::string with_commas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

FieldRole role_of(const FieldClass& type) {
  if (const auto* integer = std::get_if<Integer>(&type.kind)) return integer->role;
  if (const auto* blob = std::get_if<Blob>(&type.kind)) return blob->role;
  return FieldRole::None;
}

class Writer {
 public:
  std::string write(const Description& description) {
    is_old_ = description.version == 1;
    line(0, "Trace class:");
    for (const StreamClass& stream : description.streams) write(description, stream);
    return std::move(text_);
  }

 private:
  void line(int indent, const std::string& text) {
    text_ += std::string(static_cast<size_t>(indent) * 2, ' ') + text + "\n";
  }

  void write(const Description& description, const StreamClass& stream) {
    line(1, fmt::format("Stream class (ID {}):", stream.id));
    const auto has = [&](FieldRole role) {
      if (!stream.packet_context) return false;
      for (const Member& member : std::get<Structure>(stream.packet_context->kind).members)
        if (role_of(*member.type) == role) return true;
      return false;
    };
    const auto yes = [](bool is) { return std::string(is ? "Yes" : "No"); };
    const bool begins = has(FieldRole::Timestamp), ends = has(FieldRole::PacketEndTimestamp);
    line(2, "Supports packets: Yes");
    line(2, "Packets have beginning default clock snapshot: " + yes(begins));
    line(2, "Packets have end default clock snapshot: " + yes(ends));
    const bool discards = has(FieldRole::DiscardedEvents);
    line(2, "Supports discarded events: " + yes(discards));
    if (discards) line(2, "Discarded events have default clock snapshots: " + yes(begins && ends));
    const bool counts = has(FieldRole::PacketSequenceNumber);
    line(2, "Supports discarded packets: " + yes(counts));
    if (counts) line(2, "Discarded packets have default clock snapshots: " + yes(begins && ends));
    if (stream.clock) write(description, description.clocks[*stream.clock]);
    write_scope("Packet context", Scope::PacketContext, stream.packet_context, 2);
    write_scope("Event common context", Scope::EventCommonContext, stream.common_context, 2);
    std::map<uint64_t, const EventClass*> events;  // in the order in which they are said
    for (const EventClass& event : stream.events) events.emplace(event.id, &event);
    for (const auto& [id, it] : events) {
      const EventClass& event = *it;
      line(2, fmt::format("Event class `{}` (ID {}):", event.name, id));
      if (event.log_level)
        line(3, fmt::format("Log level: {}", kLogLevels.at(static_cast<size_t>(*event.log_level))));
      write_scope("Specific context", Scope::EventSpecificContext, event.specific_context, 3);
      write_scope("Payload", Scope::EventPayload, event.payload, 3);
    }
  }

  void write(const Description& description, const Clock& clock) {
    line(2, "Default clock class:");
    line(3, "Name: " + clock.name);
    if (!clock.uid.empty()) line(3, (is_old_ ? "UUID: " : "UID: ") + clock.uid);
    if (!clock.description.empty()) line(3, "Description: " + clock.description);
    line(3, "Frequency (Hz): " + with_commas(clock.frequency));
    if (is_old_ || clock.precision)
      line(3, "Precision (cycles): " + with_commas(clock.precision.value_or(0)));
    line(3, "Offset from origin (s): " + with_commas(static_cast<uint64_t>(clock.offset_seconds)));
    line(3, "Offset from origin (cycles): " + with_commas(clock.offset_cycles));
    // LTTng's clock counts from the epoch, which its CTF 1.8 does not say.
    const auto* tracer = description.find_environment("tracer_name");
    const bool is_lttng = tracer && std::holds_alternative<std::string>(*tracer) &&
                          std::get<std::string>(*tracer).starts_with("lttng");
    if (clock.since_epoch || (is_old_ && is_lttng)) line(3, "Origin: Unix epoch");
  }

  // Of a packet context, what is not for the reader's own use.
  void write_scope(const std::string& name, Scope scope, const FieldClassPtr& type, int indent) {
    if (!type) return;
    scope_ = scope;
    root_ = type.get();
    const auto& members = std::get<Structure>(type->kind).members;
    size_t shown = 0;
    for (const Member& member : members) shown += role_of(*member.type) == FieldRole::None;
    if (shown == 0 && scope == Scope::PacketContext) return;
    line(indent, fmt::format("{} field class: {}", name, counted(shown)));
    for (const Member& member : members)
      if (role_of(*member.type) == FieldRole::None) write(member.name, *member.type, indent + 1);
  }

  static std::string counted(size_t members) {
    return fmt::format("Structure ({} member{}){}", members, members == 1 ? "" : "s",
                       members == 0 ? "" : ":");
  }

  // As indices of fields, or since CTF 2 by their names.
  std::string length_field(const FieldPath& path) const {
    std::string text = is_old_ ? "Length field path [" : "Length field location [";
    text += kScopes[static_cast<size_t>(path.scope)];
    const FieldClass* type = path.scope == scope_ ? root_ : nullptr;
    for (const std::string& name : path.names) {
      text += &name == path.names.data() ? ": " : ", ";
      const auto* structure = type ? std::get_if<Structure>(&type->kind) : nullptr;
      type = nullptr;
      for (size_t i = 0; structure && i < structure->members.size(); ++i) {
        if (structure->members[i].name != name) continue;
        text += is_old_ ? std::to_string(i) : name;
        type = structure->members[i].type.get();
      }
    }
    return text + "]";
  }

  void write(const std::string& name, const FieldClass& type, int indent) {
    const std::string begin = name + ": ";
    if (const auto* integer = std::get_if<Integer>(&type.kind)) {
      line(indent,
           fmt::format("{}{} integer ({}-bit, Base {})", begin,
                       integer->is_signed ? "Signed" : "Unsigned", integer->size, integer->base));
    } else if (const auto* number = std::get_if<Float>(&type.kind)) {
      line(indent,
           fmt::format("{}{}-precision real", begin, number->size == 32 ? "Single" : "Double"));
    } else if (std::holds_alternative<Text>(type.kind)) {
      line(indent, begin + "String");
    } else if (const auto* array = std::get_if<Array>(&type.kind)) {
      if (array->length) {
        line(indent, fmt::format("{}Static array (Length {}):", begin, *array->length));
      } else {
        line(indent, fmt::format("{}Dynamic array (with length field) ({}):", begin,
                                 length_field(array->count)));
      }
      write("Element", *array->element, indent + 1);
    } else if (const auto* structure = std::get_if<Structure>(&type.kind)) {
      line(indent, begin + counted(structure->members.size()));
      for (const Member& member : structure->members) write(member.name, *member.type, indent + 1);
    } else {
      line(indent, begin + "?");
    }
  }

  std::string text_;
  bool is_old_ = true;
  Scope scope_ = Scope::PacketHeader;
  const FieldClass* root_ = nullptr;
};

}  // namespace

std::string details(const Description& description) { return Writer().write(description); }

}  // namespace strata::ctf
