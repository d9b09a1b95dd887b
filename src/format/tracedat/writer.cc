// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/writer.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>

#include "base/byte_writer.h"
#include "format/tracedat/compression.h"

namespace strata::tracedat {
namespace {

constexpr uint64_t kSectionHeader = 16;
constexpr uint32_t kNoName = 0xffffffff;
constexpr uint64_t kFirstOptionsPlace = 8;  // bytes that the prefix ends with

void put_section_header(ByteWriter& out, OptionId id, bool compressed, uint64_t size) {
  out.u16(static_cast<uint16_t>(id));
  out.u16(compressed ? 1 : 0);
  out.u32(kNoName);
  out.u64(size);
}

void put_option(ByteWriter& out, OptionId id, Bytes data) {
  out.u16(static_cast<uint16_t>(id));
  out.u32(static_cast<uint32_t>(data.size()));
  out.raw(data);
}

std::vector<std::byte> number(uint64_t value, ByteOrder order) {
  ByteWriter out(order);
  out.u64(value);
  return std::move(out).bytes();
}

std::vector<std::byte> header_info_body(const Head& head) {
  ByteWriter out(head.target.order);
  for (const auto& [name, text] :
       {std::pair{"header_page", head.header_page}, std::pair{"header_event", head.header_event}}) {
    out.string(name);
    out.u64(text.size());
    out.text(text);
  }
  return std::move(out).bytes();
}

void put_formats(ByteWriter& out, const std::vector<EventFormat>& formats) {
  out.u32(static_cast<uint32_t>(formats.size()));
  for (const EventFormat& format : formats) {
    out.u64(format.text.size());
    out.text(format.text);
  }
}

// Of ftrace's own events, or of all other systems.
std::vector<std::byte> formats_body(const Head& head, bool ftrace_only) {
  std::vector<std::pair<std::string_view, std::vector<EventFormat>>> systems;
  for (const EventFormat& format : head.formats) {
    if ((format.system == "ftrace") != ftrace_only) continue;
    if (systems.empty() || systems.back().first != format.system)
      systems.push_back({format.system, {}});
    systems.back().second.push_back(format);
  }
  ByteWriter out(head.target.order);
  if (ftrace_only) {
    put_formats(out, systems.empty() ? std::vector<EventFormat>{} : systems.front().second);
    return std::move(out).bytes();
  }
  out.u32(static_cast<uint32_t>(systems.size()));
  for (const auto& [name, formats] : systems) {
    out.string(name);
    put_formats(out, formats);
  }
  return std::move(out).bytes();
}

uint32_t cpu_count(const Head& head) {
  uint32_t count = 0;
  for (const PlannedBuffer& buffer : head.buffers) {
    for (const uint32_t cpu : buffer.cpus) count = std::max(count, cpu + 1);
  }
  return count;
}

std::vector<std::byte> short_text_body(std::string_view text, ByteOrder order) {
  ByteWriter out(order);
  out.u32(static_cast<uint32_t>(text.size()));
  out.text(text);
  return std::move(out).bytes();
}

std::vector<std::byte> long_text_body(std::string_view text, ByteOrder order) {
  ByteWriter out(order);
  out.u64(text.size());
  out.text(text);
  return std::move(out).bytes();
}

}  // namespace

NewOption text_option(OptionId id, std::string_view text) {
  ByteWriter data(kNativeOrder);
  data.string(text);
  return {id, std::move(data).bytes()};
}

Result<Writer> Writer::create(const std::string& path, const Head& head, WriteOptions options) {
  Result<NewFile> file = NewFile::create(path);
  if (!file) return std::move(file).error();
  Writer writer(*std::move(file), head, options);
  if (Status status = writer.write_head(head); !status) return std::move(status).error();
  return writer;
}

Writer::Writer(NewFile file, const Head& head, WriteOptions options)
    : file_(std::move(file)), target_(head.target), options_(options) {
  for (const PlannedBuffer& plan : head.buffers) buffers_.emplace_back().plan = plan;
  if (options_.chunk_pages == 0) {
    size_t cpus = 0;
    for (const PlannedBuffer& plan : head.buffers) cpus = std::max(cpus, plan.cpus.size());
    options_.chunk_pages = default_chunk_pages(cpus);
  }
}

Status Writer::write_head(const Head& head) {
  const ByteOrder order = target_.order;
  ByteWriter prefix(order);
  prefix.text("\x17\x08\x44tracing");
  prefix.string("7");
  prefix.u8(order == ByteOrder::Little ? 0 : 1);
  prefix.u8(sizeof(long));
  prefix.u32(head.page_size);
  const bool packs = options_.compression == Compression::Zstd;
  prefix.string(packs ? "zstd" : "none");
  prefix.string(packs ? ZSTD_versionString() : "");
  prefix.u64(0);
  const uint64_t first_options = prefix.size() - kFirstOptionsPlace;
  if (Status status = file_.append(prefix.bytes()); !status) return status;

  std::vector<NewOption> sections;
  const std::pair<OptionId, std::vector<std::byte>> bodies[] = {
      {OptionId::HeaderInfo, header_info_body(head)},
      {OptionId::FtraceEvents, formats_body(head, true)},
      {OptionId::EventFormats, formats_body(head, false)},
      {OptionId::Kallsyms, short_text_body(head.kallsyms, order)},
      {OptionId::Printk, short_text_body(head.printk_formats, order)},
      {OptionId::CmdLines, long_text_body(head.cmdlines, order)},
  };
  for (const auto& [id, body] : bodies) {
    const Result<uint64_t> offset = write_section(id, body);
    if (!offset) return offset.error();
    sections.push_back({id, number(*offset, order)});
  }
  const uint64_t options_offset = file_.size();
  if (Status status = write_options(head, sections); !status) return status;
  return file_.overwrite(first_options, number(options_offset, order));
}

Result<uint64_t> Writer::write_section(OptionId id, Bytes body) {
  const uint64_t offset = file_.size();
  ByteWriter header(target_.order);
  if (options_.compression == Compression::None) {
    put_section_header(header, id, false, body.size());
    header.raw(body);
  } else {
    packed_.clear();
    if (!compress(body, packed_)) return Error{"", std::nullopt, "cannot compress a section"};
    put_section_header(header, id, true, packed_.size() + 8);
    header.u32(static_cast<uint32_t>(packed_.size()));
    header.u32(static_cast<uint32_t>(body.size()));
    header.raw(packed_);
  }
  if (Status status = file_.append(header.bytes()); !status) return std::move(status).error();
  return offset;
}

std::vector<std::byte> Writer::buffer_option(const OpenBuffer& buffer) const {
  ByteWriter out(target_.order);
  out.u64(buffer.section_offset);
  out.string(buffer.plan.name);
  out.string(buffer.plan.clock);
  out.u32(buffer.plan.page_size);
  out.u32(static_cast<uint32_t>(buffer.plan.cpus.size()));
  for (size_t i = 0; i < buffer.plan.cpus.size(); ++i) {
    const bool known = i < buffer.done.size();
    out.u32(buffer.plan.cpus[i]);
    out.u64(known ? buffer.done[i].offset : 0);
    out.u64(known ? buffer.done[i].size : 0);
  }
  return std::move(out).bytes();
}

Status Writer::write_options(const Head& head, const std::vector<NewOption>& sections) {
  ByteWriter body(target_.order);
  for (const NewOption& option : sections) put_option(body, option.id, option.data);
  for (const NewOption& option : head.options) put_option(body, option.id, option.data);
  // KernelShark sees no CPU, and so no event, where nothing tells how many there are.
  if (std::ranges::find(head.options, OptionId::CpuCount, &NewOption::id) == head.options.end()) {
    ByteWriter count(target_.order);
    count.u32(cpu_count(head));
    put_option(body, OptionId::CpuCount, count.bytes());
  }
  for (OpenBuffer& buffer : buffers_) {
    const std::vector<std::byte> option = buffer_option(buffer);
    put_option(body, OptionId::Buffer, option);
    buffer.option_offset = file_.size() + kSectionHeader + body.size() - option.size();
  }
  put_option(body, OptionId::Done, number(0, target_.order));
  ByteWriter section(target_.order);
  put_section_header(section, OptionId::Done, false, body.size());
  section.raw(body.bytes());
  return file_.append(section.bytes());
}

Status Writer::begin_cpu() {
  if (in_cpu_) {
    if (Status status = end_cpu(); !status) return status;
  }
  while (buffer_ < buffers_.size() &&
         buffers_[buffer_].done.size() == buffers_[buffer_].plan.cpus.size())
    ++buffer_;
  if (buffer_ == buffers_.size()) return Error{"", std::nullopt, "more CPUs than were planned"};

  OpenBuffer& buffer = buffers_[buffer_];
  if (buffer.done.empty()) {
    buffer.section_offset = file_.size();
    ByteWriter header(target_.order);
    put_section_header(header, OptionId::Buffer, options_.compression != Compression::None, 0);
    if (Status status = file_.append(header.bytes()); !status) return status;
  }
  if (Status status = file_.align(buffer.plan.page_size); !status) return status;
  cpu_offset_ = file_.size();
  chunks_ = 0;
  in_cpu_ = true;
  if (options_.compression == Compression::None) return {};
  ByteWriter count(target_.order);
  count.u32(0);
  return file_.append(count.bytes());
}

Status Writer::add_page(Bytes page) {
  if (options_.compression == Compression::None) return file_.append(page);
  chunk_.insert(chunk_.end(), page.begin(), page.end());
  const uint64_t full = uint64_t{options_.chunk_pages} * buffers_[buffer_].plan.page_size;
  return chunk_.size() < full ? Status() : write_chunk();
}

Status Writer::write_chunk() {
  packed_.clear();
  if (!pack_chunk(chunk_, target_.order, packed_))
    return Error{"", std::nullopt, "cannot compress a page"};
  chunk_.clear();
  ++chunks_;
  return file_.append(packed_);
}

Status Writer::add_packed(const PackedPages& packed) {
  chunks_ += packed.chunks;
  return file_.append_file(packed.path, packed.size);
}

Status Writer::end_cpu() {
  OpenBuffer& buffer = buffers_[buffer_];
  if (!chunk_.empty()) {
    if (Status status = write_chunk(); !status) return status;
  }
  uint64_t size = file_.size() - cpu_offset_;
  if (options_.compression != Compression::None) {
    ByteWriter count(target_.order);
    count.u32(chunks_);
    if (Status status = file_.overwrite(cpu_offset_, count.bytes()); !status) return status;
    if (chunks_ == 0) size = 0;  // no data at all, not even a count, to any reader
  }
  buffer.done.push_back({buffer.plan.cpus[buffer.done.size()], cpu_offset_, size});
  buffer.section_end = file_.size();
  in_cpu_ = false;
  return {};
}

Status Writer::finish() {
  if (in_cpu_) {
    if (Status status = end_cpu(); !status) return status;
  }
  for (OpenBuffer& buffer : buffers_) {
    if (buffer.done.empty()) {
      // A buffer without CPUs still has a section, an empty one.
      buffer.section_offset = file_.size();
      buffer.section_end = buffer.section_offset + kSectionHeader;
      ByteWriter header(target_.order);
      put_section_header(header, OptionId::Buffer, options_.compression != Compression::None, 0);
      if (Status status = file_.append(header.bytes()); !status) return status;
    }
    const uint64_t size = buffer.section_end - buffer.section_offset - kSectionHeader;
    constexpr uint64_t kSizeInHeader = 8;
    if (Status status =
            file_.overwrite(buffer.section_offset + kSizeInHeader, number(size, target_.order));
        !status)
      return status;
    if (Status status = file_.overwrite(buffer.option_offset, buffer_option(buffer)); !status)
      return status;
  }
  return file_.publish();
}

Status append_options(const std::string& path, const std::vector<NewOption>& options) {
  ByteWriter body(kNativeOrder);
  uint64_t link = 0;
  uint64_t end = 0;
  ByteOrder order = kNativeOrder;
  {
    const Result<MappedFile> file = MappedFile::open(path);
    if (!file) return file.error();
    const Result<Layout> layout = read_layout(*file);
    if (!layout) return layout.error();
    if (layout->version != 7) return Error{path, 0, "only a file of version 7 can be added to"};
    link = layout->last_done;
    end = file->size();
    order = layout->target.order;
  }
  body = ByteWriter(order);
  for (const NewOption& option : options) put_option(body, option.id, option.data);
  put_option(body, OptionId::Done, number(0, order));
  ByteWriter section(order);
  put_section_header(section, OptionId::Done, false, body.size());
  section.raw(body.bytes());

  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return system_error(path, "cannot open for writing", errno);
  const std::vector<std::byte> place = number(end, order);
  const auto write_at = [&](const std::vector<std::byte>& bytes, uint64_t offset) {
    return pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(bytes.size());
  };
  const bool written = write_at(section.bytes(), end) && fsync(fd) == 0 && write_at(place, link);
  const int error = errno;
  close(fd);
  if (!written) return system_error(path, "cannot write", error);
  return {};
}

}  // namespace strata::tracedat
