// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/stream_writer.h"

#include <algorithm>
#include <utility>

namespace strata::ctf {
namespace {

// Readers map packets; beyond this, something has gone wrong.
constexpr size_t kMaxEvent = 1 << 30;

template <typename T>
std::byte* put(std::byte* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return out + sizeof value;
}

constexpr size_t aligned(size_t size) {
  return (size + kPacketAlignment - 1) / kPacketAlignment * kPacketAlignment;
}

}  // namespace

StreamWriter::StreamWriter(StreamFile file, MetadataFile& metadata, HeaderKind header,
                           std::vector<std::byte> packet_head, uint32_t packet_size)
    : small_ids_(header == HeaderKind::Compact ? 31 : 65535),
      small_times_(uint64_t{1} << (header == HeaderKind::Compact ? 27 : 32)),
      compact_(header == HeaderKind::Compact),
      packet_size_(std::max<uint32_t>(packet_size, 4096)),
      head_(std::move(packet_head)),
      file_(std::move(file)),
      metadata_(metadata) {}

std::byte* StreamWriter::put_extended(EventId id, uint64_t time, std::byte* out) {
  if (time < last_) {
    ++moved_;
    time = last_;
  }
  last_ = time;
  // The small id that says so, then both in full.
  out = compact_ ? put<uint8_t>(out, 31) : put<uint16_t>(out, 65535);
  out = put(out, static_cast<uint32_t>(id));
  return put(out, time);
}

bool StreamWriter::write(EventId id, uint64_t time, std::span<const NewField> fields,
                         std::span<const Value> values) {
  const std::optional<size_t> size = encoded_size(fields, values);
  if (!size) return false;
  std::byte* out = reserve(id, time, *size);
  if (out == nullptr) return false;
  encode(fields, values, out);
  return true;
}

bool StreamWriter::make_room(uint64_t time, size_t size) {
  if (!status_) return false;
  if (size > kMaxEvent) {
    status_ = Error{file_.path(), std::nullopt, "an event of more than a gigabyte"};
    return false;
  }
  return end_packet() && begin_packet(std::max(time, last_), size);
}

bool StreamWriter::begin_packet(uint64_t time, size_t size) {
  // Losses are told by the difference between two packets: without a packet before, nobody would
  // hear of those before the first event.
  if (next_number_ == 0 && has_unwritten_losses()) {
    const uint64_t lost_packets = std::exchange(lost_packets_, 0);
    const uint64_t discarded = std::exchange(discarded_, 0);
    if (buffer_.size() < aligned(head_.size())) buffer_.resize(aligned(head_.size()));
    if (!write_packet(head_.size(), time, time)) return false;
    lost_packets_ = lost_packets;
    discarded_ = discarded;
  }
  const size_t wanted = aligned(std::max<size_t>(packet_size_, head_.size() + kMaxHeader + size));
  // A packet may be larger for an event that needs it, but not those after it.
  if (buffer_.size() != wanted) buffer_.resize(wanted);
  at_ = buffer_.data() + head_.size();
  limit_ = buffer_.data() + buffer_.size();
  begin_ = last_ = time;
  return true;
}

bool StreamWriter::end_packet() {
  if (at_ == nullptr) return status_ ? true : false;
  const auto content = static_cast<size_t>(at_ - buffer_.data());
  at_ = limit_ = nullptr;
  return write_packet(content, begin_, last_);
}

bool StreamWriter::write_packet(size_t content, uint64_t begin, uint64_t end) {
  next_number_ += std::exchange(lost_packets_, 0);
  const PacketFacts facts{.content_size = content * 8,
                          .begin = begin,
                          .end = end,
                          .discarded = discarded_,
                          .stream_class = load<uint32_t>(head_.data() + 20, false),
                          .stream = load<uint64_t>(head_.data() + 24, false),
                          .sequence_number = next_number_};
  std::byte* out = buffer_.data();
  std::memcpy(out, head_.data(), head_.size());
  out = put(put(put(out + 32, begin), end), facts.content_size);
  put(put(out + 8, next_number_), discarded_);
  const size_t size = aligned(content);
  std::memset(buffer_.data() + content, 0, size - content);

  status_ = metadata_.write_out();
  if (status_) status_ = file_.add(std::span(buffer_).first(size), facts);
  if (!status_) return false;
  ++next_number_;
  discarded_written_ = discarded_;
  return true;
}

bool StreamWriter::discard(uint64_t events) {
  if (events == 0) return status_ ? true : false;
  if (!end_packet()) return false;
  discarded_ += events;
  return true;
}

bool StreamWriter::discard_unknown() {
  if (!end_packet()) return false;
  ++lost_packets_;
  return true;
}

Status StreamWriter::flush(std::optional<uint64_t> until) {
  if (!status_) return status_;
  const bool losses = at_ == nullptr && has_unwritten_losses();
  if (until) last_ = std::max(last_, *until);
  if (losses && !begin_packet(last_, 0)) return status_;
  end_packet();
  return status_;
}

Status StreamWriter::finish() {
  if (Status status = flush(); !status) return status;
  status_ = file_.finish();
  buffer_ = {};
  return status_;
}

}  // namespace strata::ctf
