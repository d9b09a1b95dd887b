// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "format/ctf/metadata_file.h"
#include "format/ctf/stream_file.h"
#include "format/ctf/values.h"

namespace strata::ctf {

// The number of an event type within its stream class.
enum class EventId : uint32_t {};

// One stream of a trace that is being written: events in the order of their times go into a packet
// in memory, full packets go to the file. Made by Writer::add_stream(). Several streams may be
// written by several threads, each by one at a time.
//
// Once something failed (a full disk), nothing more is written and every call says so; what was
// written before stays readable.
class StreamWriter {
 public:
  StreamWriter(StreamFile file, MetadataFile& metadata, HeaderKind header,
               std::vector<std::byte> packet_head, uint32_t packet_size);

  // Adds an event whose bytes, the event context before the payload, the caller puts to where the
  // result points: exactly `size` of them, before the next call. Nothing: it failed, see status().
  std::byte* reserve(EventId id, uint64_t time, size_t size) {
    if (static_cast<size_t>(limit_ - at_) < kMaxHeader + size) [[unlikely]] {
      if (!make_room(time, size)) return nullptr;
    }
    std::byte* out = at_;
    if (raw_id(id) < small_ids_ && time - last_ < small_times_) [[likely]] {
      last_ = time;
      if (compact_) {
        const auto header = static_cast<uint32_t>(raw_id(id) | time << 5);
        std::memcpy(out, &header, 4);
        out += 4;
      } else {
        const uint64_t header = raw_id(id) | time << 16;
        std::memcpy(out, &header, 6);
        out += 6;
      }
    } else {
      out = put_extended(id, time, out);
    }
    at_ = out + size;
    ++events_;
    return out;
  }

  // An event whose bytes are ready: the event context, then the payload.
  bool write(EventId id, uint64_t time, Bytes bytes) {
    std::byte* out = reserve(id, time, bytes.size());
    if (out == nullptr) [[unlikely]]
      return false;
    if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
    return true;
  }
  bool write(EventId id, uint64_t time, Bytes context, Bytes payload) {
    std::byte* out = reserve(id, time, context.size() + payload.size());
    if (out == nullptr) [[unlikely]]
      return false;
    if (!context.empty()) std::memcpy(out, context.data(), context.size());
    if (!payload.empty()) std::memcpy(out + context.size(), payload.data(), payload.size());
    return true;
  }
  // An event as the values of its fields, which are those of the event context and of the type, in
  // this order. Values that do not fit them are refused, and nothing else changes.
  bool write(EventId id, uint64_t time, std::span<const NewField> fields,
             std::span<const Value> values);

  // So many events are missing before the next one. The packet ends here, so that the place is told
  // as exactly as the format can.
  bool discard(uint64_t events);
  // Events are missing, nobody knows how many: told as a lost packet.
  bool discard_unknown();

  // What was added is in the file, as a packet. `until`: nothing earlier than this will come.
  Status flush(std::optional<uint64_t> until = std::nullopt);
  // The file is as long as its packets. Nothing may be added any more.
  Status finish();

  const Status& status() const { return status_; }
  uint64_t events() const { return events_; }
  uint64_t discarded() const { return discarded_; }
  // Events whose time lay before that of the event before them. Readers refuse that, so they were
  // given the time of the one before.
  uint64_t moved() const { return moved_; }

 private:
  static constexpr size_t kMaxHeader = 14;
  static constexpr uint64_t raw_id(EventId id) { return static_cast<uint32_t>(id); }

  bool make_room(uint64_t time, size_t size);
  bool begin_packet(uint64_t time, size_t size);
  bool end_packet();
  bool write_packet(size_t content, uint64_t begin, uint64_t end);
  std::byte* put_extended(EventId id, uint64_t time, std::byte* out);
  bool has_unwritten_losses() const {
    return discarded_ != discarded_written_ || lost_packets_ > 0;
  }

  std::byte* at_ = nullptr;     // where the next event goes
  std::byte* limit_ = nullptr;  // the end of the room; both are null between packets
  uint64_t last_ = 0;           // the time of the last event, or of the packet's begin
  uint64_t small_ids_;
  uint64_t small_times_;
  bool compact_;
  uint64_t events_ = 0;

  uint64_t begin_ = 0;  // of the open packet
  uint64_t next_number_ = 0;
  uint64_t lost_packets_ = 0;
  uint64_t discarded_ = 0;
  uint64_t discarded_written_ = 0;
  uint64_t moved_ = 0;
  uint32_t packet_size_;
  std::vector<std::byte> head_;
  std::vector<std::byte> buffer_;
  StreamFile file_;
  MetadataFile& metadata_;
  Status status_;
};

}  // namespace strata::ctf
