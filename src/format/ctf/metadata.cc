// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "format/ctf/tsdl_description.h"
#include "format/ctf/tsdl_parser.h"

namespace strata::ctf {
namespace {

constexpr uint32_t kMagic = 0x75D11D57;
constexpr size_t kHeaderSize = 37;
constexpr size_t kUuidSize = 16;
constexpr char kRecordSeparator = '\x1e';

std::optional<ByteOrder> packet_order(Bytes file) {
  for (ByteOrder order : {ByteOrder::Little, ByteOrder::Big}) {
    ByteReader reader(file, order);
    if (reader.u32() == kMagic) return order;
  }
  return std::nullopt;
}

struct PacketHeader {
  std::string_view uuid;
  uint32_t content_size = 0;  // in bits, with the header
  uint32_t packet_size = 0;
};

Result<PacketHeader> read_header(ByteReader& reader, const std::string& path) {
  const uint64_t start = reader.file_offset();
  auto fail = [&](std::string cause) { return Error{path, start, "metadata packet: " + cause}; };
  PacketHeader header;
  if (reader.u32() != kMagic) return fail("no magic number");
  header.uuid = as_text(reader.take(kUuidSize));
  reader.u32();  // a checksum, of a scheme that may not be
  header.content_size = reader.u32();
  header.packet_size = reader.u32();
  const uint8_t compression = reader.u8();
  const uint8_t encryption = reader.u8();
  const uint8_t checksum = reader.u8();
  const uint8_t major = reader.u8();
  const uint8_t minor = reader.u8();
  if (!reader.ok()) return reader.truncated(path, "the header of a metadata packet");
  if (!(major == 1 && minor == 8) && !(major == 2 && minor == 0))
    return fail(fmt::format("version {}.{}, where 1.8 or 2.0 is known", major, minor));
  if (compression || encryption || checksum)
    return fail("compressed, encrypted or with a checksum, which no reader knows");
  if (header.content_size % 8 || header.packet_size % 8)
    return fail("its sizes are not whole bytes");
  if (header.content_size / 8 < kHeaderSize || header.content_size > header.packet_size)
    return fail(fmt::format("a content of {} bits in a packet of {}", header.content_size,
                            header.packet_size));
  return header;
}

}  // namespace

Result<MetadataText> unpack_metadata(Bytes file, const std::string& path) {
  MetadataText metadata;
  metadata.order = packet_order(file);
  if (!metadata.order) {
    metadata.text = as_text(file);
    // Some writers fill up their last page.
    while (metadata.text.ends_with('\0')) metadata.text.pop_back();
    if (metadata.text.empty()) return Error{path, std::nullopt, "there are no metadata"};
    return metadata;
  }
  ByteReader reader(file, *metadata.order);
  std::string_view uuid;
  // What is shorter than a header is no packet: LTTng has left single bytes behind the last one.
  while (reader.remaining() >= kHeaderSize) {
    const uint64_t start = reader.file_offset();
    Result<PacketHeader> header = read_header(reader, path);
    if (!header) return std::move(header).error();
    if (uuid.empty()) uuid = header->uuid;
    if (uuid != header->uuid)
      return Error{path, start, "metadata packet: another UUID than the first one's"};
    metadata.text += as_text(reader.take(header->content_size / 8 - kHeaderSize));
    if (!reader.ok()) return reader.truncated(path, "the content of a metadata packet");
    const uint64_t padding = (header->packet_size - header->content_size) / 8;
    reader.skip(std::min(padding, reader.remaining()));
  }
  return metadata;
}

Result<Description> parse_metadata(const MetadataText& metadata, const std::string& path) {
  if (metadata.text.starts_with(kRecordSeparator)) return parse_ctf2(metadata.text, path);
  return parse_tsdl(metadata.text, path);
}

Result<Description> parse_tsdl(std::string_view text, const std::string& path) {
  Result<tsdl::Syntax> syntax = tsdl::parse(text, path);
  if (!syntax) return std::move(syntax).error();
  Result<Description> description = tsdl::describe(*syntax, text.size(), path);
  if (description) description->version = 1;
  return description;
}

}  // namespace strata::ctf
