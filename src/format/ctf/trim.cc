// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/trim.h"

#include <algorithm>
#include <filesystem>

#include "base/new_file.h"
#include "base/new_folder.h"

namespace strata::ctf {
namespace {

// The part of a packet that stays: events from bit `from` to bit `to`, and their times.
struct Kept {
  const MappedFile* file = nullptr;
  Packet packet;
  uint64_t from = 0;
  uint64_t to = 0;
  uint64_t first_ticks = 0;
  uint64_t last_ticks = 0;
  bool whole = true;  // nothing of it was left out
};

void set_place(std::vector<std::byte>& bytes, const Packet& packet, FieldRole role,
               uint64_t value) {
  for (const Packet::Place& place : packet.places) {
    if (place.role == role && place.type->size > 0)
      trace::write_bits(bytes.data(), place.bit, place.type->size,
                        place.type->order == ByteOrder::Big, value);
  }
}

bool has_place(const Packet& packet, FieldRole role) {
  return std::ranges::any_of(packet.places, [&](const Packet::Place& place) {
    return place.role == role && place.type->size > 0;
  });
}

std::vector<std::byte> cut_packet(const Kept& kept) {
  const Packet& packet = kept.packet;
  const Bytes all = kept.file->bytes().subspan(packet.offset);
  const Bytes head = all.subspan(0, (packet.events + 7) / 8);
  const Bytes events = all.subspan(kept.from / 8, (kept.to + 7) / 8 - kept.from / 8);
  std::vector<std::byte> bytes(head.begin(), head.end());
  bytes.insert(bytes.end(), events.begin(), events.end());
  const uint64_t content = packet.events + (kept.to - kept.from);
  set_place(bytes, packet, FieldRole::PacketContentLength, content);
  set_place(bytes, packet, FieldRole::PacketTotalLength, bytes.size() * 8);
  set_place(bytes, packet, FieldRole::Timestamp, kept.first_ticks);
  set_place(bytes, packet, FieldRole::PacketEndTimestamp, kept.last_ticks);
  return bytes;
}

// Events can be moved up only where that does not change how they are aligned, and only their
// packet can say where they end and from what time on theirs count.
std::optional<Error> why_not(const Kept& kept) {
  const auto fail = [&](std::string cause) {
    return Error{kept.file->path(), kept.packet.offset,
                 "a packet that cannot be cut: " + std::move(cause)};
  };
  if (!has_place(kept.packet, FieldRole::PacketContentLength) &&
      !has_place(kept.packet, FieldRole::PacketTotalLength))
    return fail("it does not tell its size");
  if (kept.packet.events % 8 != 0 || kept.from % 8 != 0 || kept.to % 8 != 0)
    return fail("its events do not fill whole bytes");
  const uint64_t moved = kept.from - kept.packet.events;
  const uint64_t alignment = largest_alignment(*kept.packet.stream);
  if (moved % alignment != 0) return fail("its events are aligned to more than bytes");
  if (moved > 0 && !has_place(kept.packet, FieldRole::Timestamp))
    return fail("it does not tell when it begins");
  return std::nullopt;
}

Status write_kept(const Kept& kept, NewFile& out) {
  if (kept.whole) {
    const Bytes file = kept.file->bytes();
    const uint64_t size = std::min(kept.packet.size / 8, file.size() - kept.packet.offset);
    return out.append(file.subspan(kept.packet.offset, size));
  }
  if (std::optional<Error> error = why_not(kept)) return *error;
  return out.append(cut_packet(kept));
}

// One stream, packet by packet.
Status trim_stream(DataStream& stream, Nanoseconds begin, Nanoseconds end, NewFile& out,
                   const std::function<void(uint64_t)>& progress) {
  std::optional<Kept> kept;
  const auto finish = [&]() -> Status {
    if (!kept) return {};
    progress(stream.bytes_done());
    Status status = kept->to > kept->from ? write_kept(*kept, out) : Status();
    kept.reset();
    return status;
  };
  stream.skip_to(begin);
  while (stream.next() == trace::Step::Event) {
    const trace::Event& event = stream.event();
    const DataStream::Place place = stream.place();
    if (!kept || kept->packet.offset != place.packet->offset || kept->file != place.file) {
      if (Status status = finish(); !status) return status;
      kept.emplace();
      kept->file = place.file;
      kept->packet = *place.packet;
    }
    if (event.time < begin || event.time > end) {
      kept->whole = false;
      continue;
    }
    if (kept->to == 0) {
      kept->from = place.begin;
      kept->first_ticks = raw(event.ticks);
    }
    kept->to = place.end;
    kept->last_ticks = raw(event.ticks);
  }
  return finish();
}

Status trim_into(const CtfTrace& trace, Nanoseconds begin, Nanoseconds end,
                 const std::string& folder, const std::function<void(uint64_t, uint64_t)>& progress,
                 std::optional<Error>& problem) {
  namespace fs = std::filesystem;
  std::vector<std::unique_ptr<trace::Stream>> streams = trace.open_streams();
  uint64_t total = 0;
  uint64_t before = 0;
  for (const auto& stream : streams) total += stream->bytes_total();
  for (size_t i = 0; i < streams.size(); ++i) {
    auto& stream = static_cast<DataStream&>(*streams[i]);
    const std::string name = "stream_" + std::to_string(i);
    Result<NewFile> out = NewFile::create((fs::path(folder) / name).string());
    if (!out) return std::move(out).error();
    const auto tell = [&](uint64_t done) {
      if (progress) progress(before + done, total);
    };
    if (Status status = trim_stream(stream, begin, end, *out, tell); !status) return status;
    if (Status status = out->publish(); !status) return status;
    if (!problem && stream.problem()) problem = stream.problem();
    before += stream.bytes_total();
  }
  // Last: without metadata it is no trace yet.
  const Result<MappedFile> metadata = MappedFile::open(trace.metadata_path());
  if (!metadata) return metadata.error();
  Result<NewFile> copy = NewFile::create((fs::path(folder) / "metadata").string());
  if (!copy) return std::move(copy).error();
  if (Status status = copy->append(metadata->bytes()); !status) return status;
  return copy->publish();
}

}  // namespace

Status trim(const CtfTrace& trace, Nanoseconds begin, Nanoseconds end, const std::string& folder,
            const std::function<void(uint64_t, uint64_t)>& progress) {
  Result<NewFolder> out = NewFolder::create(folder);
  if (!out) return std::move(out).error();
  std::optional<Error> problem;
  if (Status status = trim_into(trace, begin, end, folder, progress, problem); !status)
    return status;
  out->keep();
  return problem ? Status(*problem) : Status();
}

}  // namespace strata::ctf
