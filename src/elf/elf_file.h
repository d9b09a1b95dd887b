// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/mapped_file.h"
#include "base/result.h"

namespace strata::elf {

// What the program headers say: a part of the file, and the addresses that it gets.
struct Segment {
  uint32_t type = 0;  // PT_LOAD, PT_NOTE, ... of <elf.h>
  uint64_t offset = 0;
  uint64_t address = 0;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
  uint64_t alignment = 0;
};

// What the section headers say. A file may have none of them and run all the same.
struct Section {
  std::string_view name;
  uint32_t type = 0;  // SHT_SYMTAB, SHT_NOTE, ...
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t link = 0;
  uint64_t alignment = 0;
  uint64_t entry_size = 0;
};

// A program or library as it lies on disk: its headers, of 32 or 64 bits and either byte order.
// What stands in it is read elsewhere (symbols.h, notes.h, usdt.h). Nothing in the file is trusted:
// headers that lead out of it are errors when they are followed.
class ElfFile {
 public:
  static Result<ElfFile> open(const std::string& path);
  // Of bytes that outlive this; `name` is for errors.
  static Result<ElfFile> read(Bytes bytes, std::string name);

  const std::string& path() const { return path_; }
  Bytes bytes() const { return bytes_; }
  bool is_64_bit() const { return wide_; }
  ByteOrder order() const { return order_; }
  uint16_t machine() const { return machine_; }  // EM_X86_64, ...

  std::span<const Segment> segments() const { return segments_; }
  std::span<const Section> sections() const { return sections_; }
  // The first of this name; null where there is none.
  const Section* section(std::string_view name) const;
  // A part of the file; `what` names it in the error where it leads out of the file.
  Result<Bytes> part(uint64_t offset, uint64_t size, std::string_view what) const;
  Result<Bytes> contents(const Section& section) const;

  // Where the byte lies in the file that is at this address when the program runs. None: nowhere,
  // as for variables that begin as zero.
  std::optional<uint64_t> file_offset(uint64_t address) const;

 private:
  ElfFile(Bytes bytes, std::string path) : bytes_(bytes), path_(std::move(path)) {}
  Status read_headers();
  struct Tables;
  Status read_segments(const Tables& tables);
  Status read_sections(const Tables& tables);
  Segment read_segment(ByteReader& in) const;
  Section read_section(ByteReader& in, uint32_t& name) const;
  uint64_t word(ByteReader& in) const { return wide_ ? in.u64() : in.u32(); }

  std::optional<MappedFile> mapped_;
  Bytes bytes_;
  std::string path_;
  bool wide_ = true;
  ByteOrder order_ = ByteOrder::Little;
  uint16_t machine_ = 0;
  std::vector<Segment> segments_;
  std::vector<Section> sections_;
};

}  // namespace strata::elf
