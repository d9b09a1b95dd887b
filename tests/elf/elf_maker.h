// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_writer.h"

namespace strata::test {

// An ELF file put down field by field as <elf.h> defines it: one loaded segment and the sections
// that a test adds. What decoders are held against.
class ElfMaker {
 public:
  ElfMaker(bool wide, ByteOrder order) : wide_(wide), order_(order), names_(1, '\0') {
    add_section("", SHT_NULL, 0, {});
  }

  ByteWriter writer() const { return ByteWriter(order_); }
  void word(ByteWriter& out, uint64_t value) const {
    if (wide_)
      out.u64(value);
    else
      out.u32(static_cast<uint32_t>(value));
  }

  // Gives its number.
  uint32_t add_section(std::string_view name, uint32_t type, uint64_t address, Bytes content,
                       uint32_t link = 0, uint64_t entry_size = 0) {
    const auto name_at = static_cast<uint32_t>(names_.size());
    names_ += name;
    names_ += '\0';
    sections_.push_back({name_at, type, address, link, entry_size,
                         std::vector<std::byte>(content.begin(), content.end())});
    return static_cast<uint32_t>(sections_.size() - 1);
  }

  void symbol(ByteWriter& out, uint32_t name, uint8_t info, uint16_t section, uint64_t address,
              uint64_t size) const {
    out.u32(name);
    if (wide_) {
      out.u8(info);
      out.u8(0);
      out.u16(section);
    }
    word(out, address);
    word(out, size);
    if (!wide_) {
      out.u8(info);
      out.u8(0);
      out.u16(section);
    }
  }
  uint64_t symbol_size() const { return wide_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym); }

  // Each part padded to four bytes.
  static void note(ByteWriter& out, std::string_view owner, uint32_t type, Bytes content) {
    out.u32(static_cast<uint32_t>(owner.size() + 1));
    out.u32(static_cast<uint32_t>(content.size()));
    out.u32(type);
    out.string(owner);
    while (out.size() % 4 != 0) out.u8(0);
    out.raw(content);
    while (out.size() % 4 != 0) out.u8(0);
  }

  // Bytes [0x40, 0x1040) of the file are loaded at 0x401040, so that an offset is its address less
  // 0x401000; as many bytes again are zeros without a place in the file.
  static constexpr uint64_t kLoadedAt = 0x401000;

  std::vector<std::byte> file() {
    const uint32_t names = add_section(".shstrtab", SHT_STRTAB, 0, {});
    sections_[names].content.assign(strata::as_bytes(names_).begin(),
                                    strata::as_bytes(names_).end());
    const uint64_t header = wide_ ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    const uint64_t segment = wide_ ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    const uint64_t contents_at = header + segment;
    uint64_t sections_at = contents_at;
    for (const Content& section : sections_) sections_at += section.content.size();

    ByteWriter out(order_);
    out.text(std::string_view(ELFMAG, SELFMAG));
    out.u8(wide_ ? ELFCLASS64 : ELFCLASS32);
    out.u8(order_ == ByteOrder::Little ? ELFDATA2LSB : ELFDATA2MSB);
    out.u8(EV_CURRENT);
    while (out.size() < EI_NIDENT) out.u8(0);
    out.u16(ET_DYN);
    out.u16(EM_X86_64);
    out.u32(EV_CURRENT);
    word(out, 0);
    word(out, header);
    word(out, sections_at);
    out.u32(0);
    out.u16(static_cast<uint16_t>(header));
    out.u16(static_cast<uint16_t>(segment));
    out.u16(1);
    out.u16(wide_ ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
    out.u16(static_cast<uint16_t>(sections_.size()));
    out.u16(static_cast<uint16_t>(names));

    out.u32(PT_LOAD);
    if (wide_) out.u32(PF_R | PF_X);
    word(out, 0x40);
    word(out, kLoadedAt + 0x40);
    word(out, kLoadedAt + 0x40);
    word(out, 0x1000);
    word(out, 0x2000);
    if (!wide_) out.u32(PF_R | PF_X);
    word(out, 0x1000);

    for (const Content& section : sections_) out.raw(section.content);
    uint64_t offset = contents_at;
    for (const Content& section : sections_) {
      out.u32(section.name);
      out.u32(section.type);
      word(out, 0);
      word(out, section.address);
      word(out, offset);
      word(out, section.content.size());
      out.u32(section.link);
      out.u32(0);
      word(out, 4);
      word(out, section.entry_size);
      offset += section.content.size();
    }
    return std::move(out).bytes();
  }

 private:
  struct Content {
    uint32_t name;
    uint32_t type;
    uint64_t address;
    uint32_t link;
    uint64_t entry_size;
    std::vector<std::byte> content;
  };

  bool wide_;
  ByteOrder order_;
  std::string names_;
  std::vector<Content> sections_;
};

}  // namespace strata::test
