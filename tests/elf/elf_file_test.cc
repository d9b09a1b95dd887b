// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elf/notes.h"
#include "elf/symbols.h"
#include "elf/usdt.h"
#include "elf_maker.h"
#include "support/guarded_bytes.h"
#include "support/temporary_folder.h"

namespace strata::elf {
namespace {

using test::ElfMaker;
using testing::ElementsAre;
using testing::HasSubstr;

struct Variant {
  bool wide;
  ByteOrder order;
};

constexpr uint8_t info(uint8_t bind, uint8_t type) {
  return static_cast<uint8_t>(ELF64_ST_INFO(bind, type));
}

// Symbols, a build-id and two USDT sites, with what its tool has moved by 0x100 since.
std::vector<std::byte> make_file(Variant variant) {
  ElfMaker maker(variant.wide, variant.order);
  const std::string_view texts("\0main\0helper\0counter\0chosen\0undefined\0", 39);
  const uint32_t names = maker.add_section(".strtab", SHT_STRTAB, 0, as_bytes(texts));
  ByteWriter symbols = maker.writer();
  maker.symbol(symbols, 0, 0, 0, 0, 0);
  maker.symbol(symbols, 1, info(STB_GLOBAL, STT_FUNC), 1, 0x401100, 0x20);
  maker.symbol(symbols, 6, info(STB_LOCAL, STT_FUNC), 1, 0x401200, 0x10);
  maker.symbol(symbols, 6, info(STB_LOCAL, STT_FUNC), 1, 0x401300, 0x18);
  maker.symbol(symbols, 13, info(STB_WEAK, STT_OBJECT), 2, 0x402100, 4);
  maker.symbol(symbols, 21, info(STB_GLOBAL, STT_GNU_IFUNC), 1, 0x401400, 8);
  maker.symbol(symbols, 28, info(STB_GLOBAL, STT_FUNC), SHN_UNDEF, 0, 0);
  maker.add_section(".symtab", SHT_SYMTAB, 0, symbols.bytes(), names, maker.symbol_size());

  ByteWriter id = maker.writer();
  ElfMaker::note(id, "GNU", NT_GNU_ABI_TAG, as_bytes("0123456789abcdef"));
  ElfMaker::note(id, "GNU", NT_GNU_BUILD_ID, as_bytes("\x01\x23\xff"));
  maker.add_section(".note.gnu.build-id", SHT_NOTE, 0, id.bytes());

  ByteWriter notes = maker.writer();
  for (const bool second : {false, true}) {
    ByteWriter note = maker.writer();
    maker.word(note, second ? 0x401280 : 0x401080);
    maker.word(note, 0x401500);
    maker.word(note, second ? 0 : 0x402000);
    note.string("shop");
    note.string(second ? "closed" : "sold");
    note.string(second ? "" : "-4@%eax 8@-24(%rbp)");
    ElfMaker::note(notes, "stapsdt", 3, note.bytes());
  }
  maker.add_section(".note.stapsdt", SHT_NOTE, 0, notes.bytes());
  maker.add_section(".stapsdt.base", SHT_PROGBITS, 0x401600, as_bytes("x"));
  std::vector<std::byte> file = maker.file();
  if (file.size() < 0x1040) file.resize(0x1040);
  return file;
}

class EveryElf : public testing::TestWithParam<Variant> {};

INSTANTIATE_TEST_SUITE_P(WidthsAndOrders, EveryElf,
                         testing::Values(Variant{true, ByteOrder::Little},
                                         Variant{true, ByteOrder::Big},
                                         Variant{false, ByteOrder::Little},
                                         Variant{false, ByteOrder::Big}));

TEST_P(EveryElf, GivesSymbolsWithAnAddress) {
  const std::vector<std::byte> bytes = make_file(GetParam());
  Result<ElfFile> file = ElfFile::read(bytes, "made");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->machine(), EM_X86_64);
  EXPECT_EQ(file->is_64_bit(), GetParam().wide);
  Result<std::vector<Symbol>> symbols = read_symbols(*file);
  ASSERT_TRUE(symbols) << symbols.error().text();
  std::vector<std::string> names;
  for (const Symbol& symbol : *symbols) names.emplace_back(symbol.name);
  EXPECT_THAT(names, ElementsAre("main", "helper", "helper", "counter", "chosen"));
  EXPECT_EQ(symbols->at(0).address, 0x401100u);
  EXPECT_EQ(symbols->at(0).size, 0x20u);
  EXPECT_EQ(symbols->at(3).kind, Symbol::Kind::Variable);
  EXPECT_EQ(symbols->at(3).binding, Symbol::Binding::Weak);
  EXPECT_EQ(symbols->at(4).kind, Symbol::Kind::Indirect);
  EXPECT_EQ(functions_named(*symbols, "helper").size(), 2u);
  EXPECT_EQ(functions_named(*symbols, "counter").size(), 0u);
}

TEST_P(EveryElf, FindsWhereAnAddressLiesInTheFile) {
  const std::vector<std::byte> bytes = make_file(GetParam());
  Result<ElfFile> file = ElfFile::read(bytes, "made");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->file_offset(0x401040), 0x40u);
  EXPECT_EQ(file->file_offset(0x40203f), 0x103fu);
  EXPECT_EQ(file->file_offset(0x40103f), std::nullopt);
  EXPECT_EQ(file->file_offset(0x402040), std::nullopt) << "zeros that are not in the file";
}

TEST_P(EveryElf, GivesTheBuildId) {
  const std::vector<std::byte> bytes = make_file(GetParam());
  Result<ElfFile> file = ElfFile::read(bytes, "made");
  ASSERT_TRUE(file) << file.error().text();
  Result<std::string> id = build_id(*file);
  ASSERT_TRUE(id) << id.error().text();
  EXPECT_EQ(*id, "0123ff");
}

TEST_P(EveryElf, GivesUsdtSitesWhereTheyWereMovedTo) {
  const std::vector<std::byte> bytes = make_file(GetParam());
  Result<ElfFile> file = ElfFile::read(bytes, "made");
  ASSERT_TRUE(file) << file.error().text();
  Result<std::vector<UsdtSite>> sites = usdt_sites(*file);
  ASSERT_TRUE(sites) << sites.error().text();
  EXPECT_THAT(*sites,
              ElementsAre(UsdtSite{"shop", "sold", "-4@%eax 8@-24(%rbp)", 0x401180, 0x402100},
                          UsdtSite{"shop", "closed", "", 0x401380, 0}));
}

TEST_P(EveryElf, CutOffAnywhereIsAnErrorOrLessButNeverReadBeyond) {
  const std::vector<std::byte> bytes = make_file(GetParam());
  for (size_t size = 0; size < bytes.size(); size += size < 0x200 ? 1 : 7) {
    const test::GuardedBytes cut(Bytes(bytes).first(size));
    Result<ElfFile> file = ElfFile::read(cut.bytes(), "made");
    if (!file) {
      EXPECT_FALSE(file.error().cause.empty());
      continue;
    }
    (void)read_symbols(*file);
    (void)build_id(*file);
    (void)usdt_sites(*file);
  }
}

TEST(ElfFile, WhatIsNoElfFileSaysSo) {
  const test::TemporaryFolder folder;
  Result<ElfFile> file = ElfFile::open(folder.write("script", "#!/bin/sh\n"));
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().text(), HasSubstr("script: at byte 0: is no ELF file"));
}

TEST(ElfFile, HeadersThatLeadOutOfTheFileAreAnError) {
  std::vector<std::byte> bytes = make_file({true, ByteOrder::Little});
  // e_shnum, at byte 60 of a 64-bit header.
  bytes[60] = std::byte{0xff};
  bytes[61] = std::byte{0xfe};
  Result<ElfFile> file = ElfFile::read(bytes, "made");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().text(), HasSubstr("ends within its section headers"));
}

TEST(ElfFile, StrongerBindingsHideWeakerOnesAndAliasesAreOnce) {
  const std::vector<Symbol> symbols{
      {"f", 1, 0, Symbol::Binding::Local, Symbol::Kind::Function},
      {"f", 2, 0, Symbol::Binding::Global, Symbol::Kind::Function},
      {"f", 2, 0, Symbol::Binding::Global, Symbol::Kind::Function},
      {"f", 3, 0, Symbol::Binding::Weak, Symbol::Kind::Function},
  };
  const std::vector<Symbol> found = functions_named(symbols, "f");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].address, 2u);
}

}  // namespace
}  // namespace strata::elf
