// SPDX-License-Identifier: Apache-2.0
//
// Version 7: sections, found through a chain of options.
#include <set>

#include "format/tracedat/compression.h"
#include "format/tracedat/layout_reader.h"
#include "ftrace/ring_page.h"

namespace strata::tracedat {
namespace {

constexpr uint64_t kSectionHeader = 16;
constexpr uint16_t kCompressed = 1;
// The largest thing in a section is a kernel's symbols, some 20 MB; BTF and more may come.
constexpr uint64_t kMaxUnpacked = 512u << 20;

}  // namespace

std::optional<Error> LayoutReader::read_version_7(ByteReader& in) {
  layout_.compression_name = in.string();
  layout_.compression_version = in.string();
  const uint64_t at = in.file_offset();
  const uint64_t first_options = in.u64();
  if (!in.ok()) return in.truncated(file_.path(), "the file's first bytes");
  const std::optional<Compression> compression = compression_by_name(layout_.compression_name);
  if (!compression) {
    return fail(at, "packed by \"" + layout_.compression_name.substr(0, 32) +
                        "\", which is neither zstd nor zlib");
  }
  layout_.compression = *compression;
  layout_.last_done = at;
  if (first_options == 0) return fail(at, "no options: the recording was not finished");
  if (auto error = options_7(first_options)) {
    if (layout_.options.empty()) return error;
    note(*error);
  }

  // What events mean comes before where they are.
  for (const Option& option : layout_.options) {
    if (auto error = described_section(option)) note(*error);
  }
  for (const Option& option : layout_.options) {
    if (option.id != OptionId::Buffer && option.id != OptionId::BufferText) continue;
    if (auto error = buffer_7(option)) note(*error);
  }
  if (layout_.buffers.empty() && layout_.latency_text.empty()) {
    if (!layout_.problems.empty()) return layout_.problems.front();
    return fail(at, "no buffer of events: the recording was not finished");
  }
  return std::nullopt;
}

Result<LayoutReader::Section> LayoutReader::section(uint64_t offset) {
  ByteReader in = reader_at(offset);
  Section section;
  section.id = static_cast<OptionId>(in.u16());
  section.compressed = (in.u16() & kCompressed) != 0;
  in.skip(4);  // the name of the section, for people who look at the file
  const uint64_t size = in.u64();
  if (!in.ok()) return in.truncated(file_.path(), "the header of a section");
  section.body_offset = offset + kSectionHeader;
  // CPU data are reached through their own offsets; what the section says of its size is not used.
  if (section.id == OptionId::Buffer || section.id == OptionId::BufferText) return section;

  section.body = in.take(size);
  if (!in.ok()) return in.truncated(file_.path(), "a section");
  if (!section.compressed) return section;
  ByteReader body(section.body, layout_.target.order, section.body_offset);
  const uint32_t packed_size = body.u32();
  const uint32_t plain_size = body.u32();
  const Bytes packed = body.take(packed_size);
  if (!body.ok()) return body.truncated(file_.path(), "a compressed section");
  // A copy: the file may change while it is unpacked.
  const std::vector<std::byte> copy(packed.begin(), packed.end());
  std::vector<std::byte> plain;
  if (plain_size > kMaxUnpacked || !decompress(layout_.compression, copy, plain_size, plain))
    return fail(section.body_offset, "a compressed section is damaged");
  section.body = as_bytes(layout_.unpacked.emplace_back(as_text(plain)));
  return section;
}

std::optional<Error> LayoutReader::options_7(uint64_t offset) {
  std::set<uint64_t> seen;  // a chain that bites its tail would never end
  while (offset != 0) {
    if (!seen.insert(offset).second) return fail(offset, "the options refer to themselves");
    const Result<Section> found = section(offset);
    if (!found) return found.error();
    if (found->id != OptionId::Done) return fail(offset, "expected a section of options");
    ByteReader in(found->body, layout_.target.order, found->body_offset);
    offset = 0;
    while (true) {
      const auto id = static_cast<OptionId>(in.u16());
      const uint32_t size = in.u32();
      const uint64_t data_offset = in.file_offset();
      const Bytes data = in.take(size);
      if (!in.ok()) return in.truncated(file_.path(), "the options");
      if (id == OptionId::Done) {
        ByteReader done(data, layout_.target.order, data_offset);
        offset = done.u64();
        if (!done.ok()) return done.truncated(file_.path(), "the end of the options");
        layout_.last_done = data_offset;
        break;
      }
      layout_.options.push_back({id, data, data_offset});
    }
  }
  return std::nullopt;
}

std::optional<Error> LayoutReader::described_section(const Option& option) {
  using Body = std::optional<Error> (LayoutReader::*)(ByteReader&);
  Body body = nullptr;
  switch (option.id) {
    case OptionId::HeaderInfo:
      body = &LayoutReader::header_info;
      break;
    case OptionId::FtraceEvents:
      body = &LayoutReader::ftrace_events;
      break;
    case OptionId::EventFormats:
      body = &LayoutReader::event_formats;
      break;
    case OptionId::Kallsyms:
      body = &LayoutReader::kallsyms;
      break;
    case OptionId::Printk:
      body = &LayoutReader::printk;
      break;
    case OptionId::CmdLines:
      body = &LayoutReader::cmdlines;
      break;
    default:
      return std::nullopt;
  }
  ByteReader in(option.data, layout_.target.order, option.offset);
  const uint64_t offset = in.u64();
  if (!in.ok()) return in.truncated(file_.path(), "an option");
  const Result<Section> found = section(offset);
  if (!found) return found.error();
  if (found->id != option.id) return fail(offset, "another section than the option says");
  ByteReader bytes(found->body, layout_.target.order, found->body_offset);
  return (this->*body)(bytes);
}

std::optional<Error> LayoutReader::buffer_7(const Option& option) {
  ByteReader in(option.data, layout_.target.order, option.offset);
  const uint64_t offset = in.u64();
  Buffer buffer;
  buffer.name = in.string();
  buffer.clock = in.string();
  if (!in.ok()) return in.truncated(file_.path(), "the option of a buffer");
  const Result<Section> found = section(offset);
  if (!found) return found.error();
  if (found->id != option.id) return fail(offset, "another section than the option says");
  if (option.id == OptionId::BufferText) {
    ByteReader text = reader_at(found->body_offset);
    layout_.latency_text = as_text(text.take(text.remaining()));
    return std::nullopt;
  }
  buffer.compressed = found->compressed;
  buffer.page_size = in.u32();
  const uint32_t count = in.u32();
  if (in.ok() && (buffer.page_size < 64 || buffer.page_size > ftrace::kMaxPageSize))
    return fail(option.offset, "no kernel has pages of this size");
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    CpuData data;
    data.cpu = in.u32();
    data.offset = in.u64();
    data.size = in.u64();
    if (!in.ok()) break;
    if (data.cpu >= 1u << 20) return fail(option.offset, "a CPU with an impossible number");
    if (data.size > 0) buffer.cpus.push_back(data);
  }
  const bool complete = in.ok();
  layout_.buffers.push_back(std::move(buffer));
  if (!complete) return in.truncated(file_.path(), "the option of a buffer");
  return std::nullopt;
}

}  // namespace strata::tracedat
