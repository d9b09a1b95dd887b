// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/tracedat/layout.h"

namespace strata::tracedat {

// The algorithm by the name a file gives it; nothing for one we do not have.
std::optional<Compression> compression_by_name(std::string_view name);

// Unpacks one block into `out`, which gets exactly `size` bytes. False where the block is damaged
// or holds another number of bytes; memory is taken only for what a plausible block can hold.
bool decompress(Compression algorithm, Bytes packed, uint64_t size, std::vector<std::byte>& out);

// Packs one block onto the end of `out`, with zstd.
bool compress(Bytes plain, std::vector<std::byte>& out);

}  // namespace strata::tracedat
