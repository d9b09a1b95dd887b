// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file_descriptor.h"
#include "base/result.h"

namespace strata::tracedat {

// The first pages of a CPU, compressed in chunks as a trace.dat has them, in a file of their own.
struct PackedPages {
  uint32_t cpu = 0;
  std::string path;
  uint64_t size = 0;  // of the file
  uint32_t chunks = 0;
  uint64_t plain_size = 0;  // of the pages in them
};

// Pages in a compressed chunk where nobody says otherwise: 64, which stock trace-cmd reads eight
// times as fast as its own ten, or ten where there are so many CPUs that 64 a CPU would be much
// memory for a reader.
uint32_t default_chunk_pages(size_t cpus);

// One chunk, with the header that it has in a file, onto the end of `out`.
bool pack_chunk(Bytes pages, ByteOrder order, std::vector<std::byte>& out);

// The name of the file for the pages of another.
std::string packed_file_name(const std::string& page_file);

// Packs a CPU's pages while they are still being written.
class PagePacker {
 public:
  // `pages` is their file; the other is made beside it, for its owner alone.
  static Result<PagePacker> create(uint32_t cpu, const std::string& pages, size_t chunk_size);

  // Packs what there is in whole chunks of what was written so far, at most `most` of them. False:
  // there was none, or it cannot go on, which costs nothing but time at the end.
  bool pack(uint64_t written, size_t most);
  const PackedPages& packed() const { return packed_; }

 private:
  PagePacker() = default;

  FileDescriptor pages_;
  FileDescriptor file_;
  size_t chunk_size_ = 0;
  bool failed_ = false;
  PackedPages packed_;
  std::vector<std::byte> plain_;
  std::vector<std::byte> chunk_;
};

}  // namespace strata::tracedat
