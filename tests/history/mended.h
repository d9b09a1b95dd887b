// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "history/checksum.h"
#include "history/file.h"

namespace strata::history {

// Checksums would keep everything out that no writer wrote: fuzzers make them right. This calls
// visit(footer, directory) for each footer that leads to the one before, from the last one on, and
// then makes its checksum right; the directory may be changed.
template <typename Visit>
void mend_footers(std::vector<uint8_t>& bytes, Visit&& visit) {
  uint64_t at = bytes.size() < sizeof(Footer) ? 0 : bytes.size() - sizeof(Footer);
  for (int i = 0; i < 100 && at != 0 && at + sizeof(Footer) <= bytes.size(); ++i) {
    Footer footer;
    std::memcpy(&footer, bytes.data() + at, sizeof footer);
    if (footer.directory > at) return;
    footer.directory_size = at - footer.directory;
    const std::span<uint8_t> directory(bytes.data() + footer.directory, footer.directory_size);
    visit(footer, directory);
    footer.checksum = checksum_of(footer, directory);
    std::memcpy(bytes.data() + at, &footer, sizeof footer);
    if (footer.previous >= at) return;
    at = footer.previous;
  }
}

}  // namespace strata::history
