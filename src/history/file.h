// SPDX-License-Identifier: Apache-2.0
//
// The file of a history. It only ever grows: blocks, then a directory of those that came since the
// directory before, then a footer; the same again with every checkpoint. Whoever opens it begins at
// the last checkpoint's footer, wherever a file that still grows, or was cut, has its end. It is a
// cache, written and read by one machine: numbers lie as they do there, and what is not exactly as
// it should be makes it worthless, never wrong.
//
//   block      summary, columns (block.h)
//   directory  of what is new since the one before. For each row the length of its key (32 bits)
//   and
//              the key; for each block a BlockEntry; for each block its times (times.h); for each
//              row with an interval that has not ended an OpenInterval
//   footer     Footer
#pragma once

#include <cstdint>
#include <type_traits>

#include "history/interval.h"

namespace strata::history {

inline constexpr uint64_t kMagic = 0x3159524f54534948;  // "HISTORY1" as it lies in the file
inline constexpr uint32_t kVersion = 3;

struct BlockEntry {
  uint64_t offset;  // of its summary, in the file; the columns follow
  int64_t begin;    // of its first interval
  int64_t end;      // of its last
  Row row;
  uint32_t count;  // of intervals
  uint32_t summary_size;
  uint32_t columns_size;
};

struct OpenInterval {
  int64_t begin;
  Row row;
  uint32_t info;
  State state;
  uint8_t reserved[7];
};

enum class FooterKind : uint32_t {
  Directory,   // on the way: intervals that have not ended are missing
  Checkpoint,  // up to `end` everything is there
  Complete,    // the same, and nothing more comes
};

struct Footer {
  uint64_t magic;
  uint32_t version;
  FooterKind kind;
  uint64_t source;     // what it was made from, by its user's reckoning
  int64_t begin;       // of all rows
  int64_t end;         // to here every row is known
  uint64_t directory;  // where the directory is
  uint64_t directory_size;
  uint64_t rows;  // new ones in it
  uint64_t blocks;
  uint64_t open_intervals;
  uint64_t previous;  // where the footer before this one is; 0: there is none
  uint64_t checksum;  // of the directory and all that stands before this
};
static_assert(std::has_unique_object_representations_v<BlockEntry> &&
              std::has_unique_object_representations_v<OpenInterval> &&
              std::has_unique_object_representations_v<Footer>);

}  // namespace strata::history
