// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/mapped_file.h"
#include "format/tracedat/layout.h"
#include "format/tracedat/live_pages.h"

namespace strata::tracedat {

// One CPU's pages, in order. They lie in the file as they are, or in chunks that are unpacked one
// at a time:
//
//     u32 number of chunks, then each: u32 packed size, u32 plain size, packed bytes
//
// The size that the file states for a CPU's compressed data is not used: writers disagree on
// whether it counts the first four bytes.
class CpuPages {
 public:
  CpuPages(const MappedFile& file, const Layout& layout, const Buffer& buffer, CpuData data);

  enum class Step : uint8_t { Page, Quiet, End, Bad };
  // The next page. Bad: something could not be read, error() says what; what follows may still be.
  // Quiet: there is none yet.
  Step next();
  // From here on they are those that are being written.
  void follow(LivePages& live) { live_ = &live; }

  Bytes page() const { return page_; }
  bool is_cut_off() const { return page_.size() < page_size_; }
  // Where the page is in the file; for a compressed one, where its chunk is.
  uint64_t page_offset() const { return page_offset_; }
  const Error& error() const { return error_; }

  uint64_t bytes_done() const { return position_ - begin_; }
  uint64_t bytes_total() const { return end_ - begin_; }

  // Blocks are what can be jumped to: pages, or chunks of them.
  uint64_t block_count();
  // The next page is the first of this block.
  void seek_block(uint64_t block);

 private:
  Step next_raw();
  Step next_chunk();
  Step next_live();
  Step bad(uint64_t offset, std::string cause);
  void find_chunks();

  const MappedFile& file_;
  const Layout& layout_;
  LivePages* live_ = nullptr;
  uint32_t cpu_;
  uint32_t page_size_;
  bool compressed_;
  uint64_t begin_;
  uint64_t end_;       // as far as the file goes
  bool cut_off_;       // the file should have gone further
  uint64_t position_;  // of the next page or chunk
  bool shrank_told_ = false;
  uint32_t chunks_left_ = 0;

  std::vector<std::byte> packed_;
  std::vector<std::byte> chunk_;
  uint64_t chunk_position_ = 0;
  std::vector<uint64_t> chunk_offsets_;  // found when somebody asks for blocks

  Bytes page_;
  uint64_t page_offset_ = 0;
  Error error_;
};

}  // namespace strata::tracedat
