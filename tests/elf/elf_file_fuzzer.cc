// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a program: its headers, symbols, notes and USDT sites.
#include <cstdlib>

#include "elf/elf_file.h"
#include "elf/notes.h"
#include "elf/symbols.h"
#include "elf/usdt.h"

namespace {

void expect_said(const strata::Error& error) {
  if (error.cause.empty()) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  Result<elf::ElfFile> file =
      elf::ElfFile::read({reinterpret_cast<const std::byte*>(data), size}, "input");
  if (!file) {
    expect_said(file.error());
    return 0;
  }
  for (const elf::Segment& segment : file->segments()) {
    const auto offset = file->file_offset(segment.address);
    if (offset && *offset >= size) abort();
  }
  if (Result<std::vector<elf::Symbol>> symbols = elf::read_symbols(*file); symbols) {
    for (const elf::Symbol& symbol : *symbols) file->file_offset(symbol.address);
    if (!symbols->empty()) elf::functions_named(*symbols, symbols->front().name);
  } else {
    expect_said(symbols.error());
  }
  if (Result<std::string> id = elf::build_id(*file); !id) expect_said(id.error());
  if (Result<std::vector<elf::UsdtSite>> sites = elf::usdt_sites(*file); !sites)
    expect_said(sites.error());
  return 0;
}
