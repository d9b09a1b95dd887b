// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "elf/string_table.h"

namespace strata::elf {

// Where the two tables of headers lie.
struct ElfFile::Tables {
  uint64_t segments_at = 0;
  uint64_t sections_at = 0;
  uint64_t segment_size = 0;
  uint64_t section_size = 0;
  uint64_t segment_count = 0;
  uint64_t section_count = 0;
  uint64_t names = 0;  // the section that holds the sections' names
};

Result<ElfFile> ElfFile::open(const std::string& path) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped) return std::move(mapped).error();
  ElfFile file(mapped->bytes(), path);
  file.mapped_ = *std::move(mapped);
  if (Status status = file.read_headers(); !status) return std::move(status).error();
  return file;
}

Result<ElfFile> ElfFile::read(Bytes bytes, std::string name) {
  ElfFile file(bytes, std::move(name));
  if (Status status = file.read_headers(); !status) return std::move(status).error();
  return file;
}

Status ElfFile::read_headers() {
  if (!as_text(bytes_).starts_with(std::string_view(ELFMAG, SELFMAG)))
    return Error{path_, 0, "is no ELF file: neither a program nor a library"};
  ByteReader identity(bytes_, ByteOrder::Little);
  identity.skip(EI_CLASS);
  const uint8_t width = identity.u8();
  const uint8_t order = identity.u8();
  if (width != ELFCLASS32 && width != ELFCLASS64)
    return Error{path_, EI_CLASS, "is neither of 32 nor of 64 bits"};
  if (order != ELFDATA2LSB && order != ELFDATA2MSB)
    return Error{path_, EI_DATA, "has a byte order that is not known"};
  wide_ = width == ELFCLASS64;
  order_ = order == ELFDATA2LSB ? ByteOrder::Little : ByteOrder::Big;

  ByteReader in(bytes_, order_);
  in.skip(EI_NIDENT);
  in.u16();  // whether program, library or object file
  machine_ = in.u16();
  in.u32();  // version
  word(in);  // entry point
  Tables tables;
  tables.segments_at = word(in);
  tables.sections_at = word(in);
  in.u32();  // flags
  in.u16();  // this header's size
  tables.segment_size = in.u16();
  tables.segment_count = in.u16();
  tables.section_size = in.u16();
  tables.section_count = in.u16();
  tables.names = in.u16();
  if (!in.ok()) return in.truncated(path_, "its header");

  // Counts that do not fit into 16 bits stand in the first section's header.
  if (tables.sections_at != 0 && (tables.section_count == 0 || tables.names == SHN_XINDEX ||
                                  tables.segment_count == PN_XNUM)) {
    ByteReader first(bytes_, order_);
    first.seek(tables.sections_at);
    first.skip(wide_ ? 32 : 20);  // up to the size
    const uint64_t size = word(first);
    const uint32_t link = first.u32();
    const uint32_t info = first.u32();
    if (!first.ok()) return first.truncated(path_, "its first section header");
    if (tables.section_count == 0) tables.section_count = size;
    if (tables.names == SHN_XINDEX) tables.names = link;
    if (tables.segment_count == PN_XNUM) tables.segment_count = info;
  }
  if (Status status = read_segments(tables); !status) return status;
  return read_sections(tables);
}

namespace {

// Whether a table of so many entries can be in the file at all; before memory is taken for it.
Status check_table(const ElfFile& file, uint64_t at, uint64_t count, uint64_t size,
                   uint64_t smallest, std::string_view what) {
  const std::string name(what);
  if (size < smallest)
    return Error{file.path(), std::nullopt,
                 "an entry of its " + name + " has " + std::to_string(size) +
                     " bytes, less than the " + std::to_string(smallest) + " it needs"};
  if (at > file.bytes().size() || count > (file.bytes().size() - at) / size)
    return Error{file.path(), at, "the file ends within its " + name};
  return {};
}

}  // namespace

Status ElfFile::read_segments(const Tables& tables) {
  if (tables.segments_at == 0 || tables.segment_count == 0) return {};
  if (Status status =
          check_table(*this, tables.segments_at, tables.segment_count, tables.segment_size,
                      wide_ ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), "program headers");
      !status)
    return status;
  segments_.reserve(tables.segment_count);
  for (uint64_t i = 0; i < tables.segment_count; ++i) {
    ByteReader in(bytes_, order_);
    in.seek(tables.segments_at + i * tables.segment_size);
    segments_.push_back(read_segment(in));
  }
  return {};
}

Segment ElfFile::read_segment(ByteReader& in) const {
  Segment segment;
  segment.type = in.u32();
  if (wide_) in.u32();  // flags, which stand further behind in a file of 32 bits
  segment.offset = word(in);
  segment.address = word(in);
  word(in);  // physical address
  segment.file_size = word(in);
  segment.memory_size = word(in);
  if (!wide_) in.u32();
  segment.alignment = word(in);
  return segment;
}

Status ElfFile::read_sections(const Tables& tables) {
  if (tables.sections_at == 0 || tables.section_count == 0) return {};
  if (Status status =
          check_table(*this, tables.sections_at, tables.section_count, tables.section_size,
                      wide_ ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), "section headers");
      !status)
    return status;
  std::vector<uint32_t> names(tables.section_count);
  sections_.reserve(tables.section_count);
  for (uint64_t i = 0; i < tables.section_count; ++i) {
    ByteReader in(bytes_, order_);
    in.seek(tables.sections_at + i * tables.section_size);
    sections_.push_back(read_section(in, names[i]));
  }
  if (tables.names == SHN_UNDEF) return {};
  if (tables.names >= sections_.size())
    return Error{path_, tables.sections_at, "the section with the sections' names is not there"};
  Result<Bytes> texts = contents(sections_[tables.names]);
  if (!texts) return std::move(texts).error();
  for (uint64_t i = 0; i < tables.section_count; ++i) {
    const std::optional<std::string_view> name = string_at(*texts, names[i]);
    if (!name) return Error{path_, tables.sections_at, "a section's name is not there"};
    sections_[i].name = *name;
  }
  return {};
}

Section ElfFile::read_section(ByteReader& in, uint32_t& name) const {
  Section section;
  name = in.u32();
  section.type = in.u32();
  word(in);  // flags
  section.address = word(in);
  section.offset = word(in);
  section.size = word(in);
  section.link = in.u32();
  in.u32();  // info
  section.alignment = word(in);
  section.entry_size = word(in);
  return section;
}

const Section* ElfFile::section(std::string_view name) const {
  for (const Section& section : sections_)
    if (section.name == name) return &section;
  return nullptr;
}

Result<Bytes> ElfFile::part(uint64_t offset, uint64_t size, std::string_view what) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset)
    return Error{path_, offset, "the file ends within its " + std::string(what)};
  return bytes_.subspan(offset, size);
}

Result<Bytes> ElfFile::contents(const Section& section) const {
  if (section.type == SHT_NOBITS) return Bytes{};
  return part(section.offset, section.size, "section " + std::string(section.name));
}

std::optional<uint64_t> ElfFile::file_offset(uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (segment.type != PT_LOAD || address < segment.address ||
        address - segment.address >= segment.file_size)
      continue;
    const uint64_t within = address - segment.address;
    if (segment.offset >= bytes_.size() || within >= bytes_.size() - segment.offset)
      return std::nullopt;
    return segment.offset + within;
  }
  return std::nullopt;
}

}  // namespace strata::elf
