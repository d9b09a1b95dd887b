// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "collect/site.h"
#include "elf/elf_file.h"

namespace strata::collect {

// A site, and where it can be reached in its file.
struct FileSite {
  Site site;
  uint64_t flag_offset = 0;  // in the file
  uint64_t anchor_offset = 0;
  // Addresses of the places in the code that are rewritten when it is switched on. None: it is only
  // the flag that is tested.
  std::vector<uint64_t> patches;
};

// The sites of a program or library; empty where it has none. The process has no part in this.
Result<std::vector<FileSite>> sites_of(const elf::ElfFile& file);

}  // namespace strata::collect
