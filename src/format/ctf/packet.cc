// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/packet.h"

#include <algorithm>

namespace strata::ctf {
namespace {

constexpr uint64_t kMagic = 0xc1fc1fc1;

// Picks out what has a role. Not the UUID: traces that were copied together by hand, whose packets
// carry another one than their metadata, are read by every other reader.
struct RoleSink : DeafSink {
  std::optional<uint64_t> magic;
  std::optional<uint64_t> stream_class;
  std::optional<uint64_t> total;
  std::optional<uint64_t> content;
  Packet& packet;
  const Cursor& at;

  RoleSink(Packet& p, const Cursor& cursor) : packet(p), at(cursor) {}

  void remember_place(const Integer& type) {
    packet.places.push_back({type.role, at.position() - type.size, &type});
  }

  void integer(std::string_view name, const Integer& type, uint64_t value) {
    switch (type.role) {
      case FieldRole::PacketMagic:
        magic = value;
        break;
      case FieldRole::StreamClassId:
        stream_class = value;
        break;
      case FieldRole::StreamId:
        packet.stream_id = value;
        break;
      case FieldRole::PacketTotalLength:
        total = value;
        remember_place(type);
        break;
      case FieldRole::PacketContentLength:
        content = value;
        remember_place(type);
        break;
      case FieldRole::Timestamp:
        packet.begin = value;
        remember_place(type);
        break;
      case FieldRole::PacketEndTimestamp:
        packet.end = value;
        remember_place(type);
        break;
      case FieldRole::DiscardedEvents:
        packet.discarded = value;
        packet.discarded_bits = type.size == 0 ? 64 : type.size;
        break;
      case FieldRole::PacketSequenceNumber:
        packet.sequence = value;
        break;
      default:
        if (name == "cpu_id") packet.cpu = value;
        break;
    }
  }
};

}  // namespace

Result<Packet> read_packet(const Description& description, const MappedFile& file, uint64_t offset,
                           Slots& slots) {
  Packet packet;
  packet.offset = offset;
  const uint64_t file_bits = (file.size() - offset) * 8;
  const std::byte* data = file.bytes().data() + offset;
  Cursor at(data, 0, file_bits);
  RoleSink sink(packet, at);
  const auto fail = [&](std::string cause) {
    if (file.shrank()) return file.shrank_error();
    return Error{file.path(), offset + at.position() / 8, std::move(cause)};
  };

  if (description.packet_header != nullptr &&
      !walk(*description.packet_header, {}, at, slots, sink))
    return fail("the file ends within a packet's header");
  if (sink.magic && *sink.magic != kMagic) return fail("not a packet: it lacks the magic number");

  const uint64_t id = sink.stream_class.value_or(
      description.streams.size() == 1 ? description.streams.front().id : 0);
  const auto stream = std::ranges::find(description.streams, id, &StreamClass::id);
  if (stream == description.streams.end())
    return fail("a packet of stream class " + std::to_string(id) +
                ", which the metadata do not describe");
  packet.stream = &*stream;
  packet.context = at.position();
  if (stream->packet_context != nullptr && !walk(*stream->packet_context, {}, at, slots, sink))
    return fail("the file ends within a packet's context");

  packet.events = at.position();
  packet.size = sink.total ? *sink.total : sink.content ? *sink.content : file_bits;
  packet.content = sink.content.value_or(packet.size);
  if (packet.size % 8 != 0) return fail("a packet whose size is not a number of bytes");
  if (packet.size == 0 || packet.size < packet.events)
    return fail("a packet that is too small for its own header");
  if (packet.content < packet.events || packet.content > packet.size) {
    return fail("a packet with content of " + std::to_string(packet.content) +
                " bits, which is not possible in " + std::to_string(packet.size));
  }
  return packet;
}

}  // namespace strata::ctf
