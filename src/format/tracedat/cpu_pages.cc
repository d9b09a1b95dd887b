// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/cpu_pages.h"

#include <algorithm>

#include "format/tracedat/compression.h"
#include "ftrace/ring_page.h"

namespace strata::tracedat {
namespace {

// Ten or 64 sub-buffers are usual; a sub-buffer is at most 1 MB. What claims more is damaged.
constexpr uint32_t kMaxChunk = 16u << 20;
constexpr uint64_t kChunkHeader = 8;

}  // namespace

CpuPages::CpuPages(const MappedFile& file, const Layout& layout, const Buffer& buffer, CpuData data)
    : file_(file),
      layout_(layout),
      cpu_(data.cpu),
      page_size_(buffer.page_size),
      compressed_(buffer.compressed),
      begin_(std::min(data.offset, file.size())),
      end_(begin_ + std::min(data.size, file.size() - begin_)),
      cut_off_(end_ - begin_ < data.size),
      position_(begin_) {
  if (!compressed_) return;
  ByteReader in(file.bytes().subspan(begin_), layout.target.order, begin_);
  chunks_left_ = in.u32();
  position_ = in.ok() ? begin_ + 4 : begin_;
  cut_off_ = !in.ok();
}

CpuPages::Step CpuPages::bad(uint64_t offset, std::string cause) {
  error_ = {file_.path(), offset, std::move(cause)};
  return Step::Bad;
}

CpuPages::Step CpuPages::next_live() {
  if (!live_->read_page(cpu_, chunk_, page_size_)) {
    // What is told now may bring pages before the time until which nothing is missing.
    live_->refresh();
    if (!live_->read_page(cpu_, chunk_, page_size_))
      return live_->has_ended() ? Step::End : Step::Quiet;
  }
  page_ = chunk_;
  return Step::Page;
}

CpuPages::Step CpuPages::next() {
  if (live_ != nullptr) return next_live();
  if (file_.shrank()) {
    // Also after the last page: it may have been the one that turned into zeros.
    if (shrank_told_) return Step::End;
    shrank_told_ = true;
    position_ = end_;
    chunks_left_ = 0;
    cut_off_ = false;
    chunk_position_ = chunk_.size();
    error_ = file_.shrank_error();
    return Step::Bad;
  }
  if (!compressed_) return next_raw();
  if (chunk_position_ == chunk_.size()) {
    const Step step = next_chunk();
    if (step != Step::Page) return step;
  }
  const uint64_t size = std::min<uint64_t>(page_size_, chunk_.size() - chunk_position_);
  page_ = Bytes(chunk_).subspan(chunk_position_, size);
  chunk_position_ += size;
  return Step::Page;
}

CpuPages::Step CpuPages::next_raw() {
  const uint64_t left = end_ - position_;
  if (left == 0) {
    if (!cut_off_) return Step::End;
    cut_off_ = false;
    return bad(end_, "the file ends before this CPU's data do");
  }
  // A page that is cut off is given all the same: its first records may be whole.
  const uint64_t size = std::min<uint64_t>(page_size_, left);
  page_ = file_.bytes().subspan(position_, size);
  page_offset_ = position_;
  position_ += size;
  return Step::Page;
}

CpuPages::Step CpuPages::next_chunk() {
  chunk_.clear();
  chunk_position_ = 0;
  if (chunks_left_ == 0) {
    if (!cut_off_) {
      end_ = position_;
      return Step::End;
    }
    cut_off_ = false;
    return bad(position_, "the file ends before this CPU's data do");
  }
  --chunks_left_;
  const uint64_t at = position_;
  ByteReader in(file_.bytes().subspan(at), layout_.target.order, at);
  const uint32_t packed_size = in.u32();
  const uint32_t plain_size = in.u32();
  const Bytes packed = in.take(packed_size);
  if (!in.ok() || plain_size > kMaxChunk) {
    // Where the next chunk begins is no longer known.
    chunks_left_ = 0;
    cut_off_ = false;
    return bad(at, in.ok() ? "a chunk of pages that is larger than any"
                           : "the file ends within a chunk of pages");
  }
  position_ = at + kChunkHeader + packed_size;
  page_offset_ = at;
  // Unpacked from a copy: the file may change under us, and the library trusts what it read before.
  packed_.assign(packed.begin(), packed.end());
  if (!decompress(layout_.compression, packed_, plain_size, chunk_)) {
    chunk_.clear();
    return bad(at, "a compressed chunk of pages is damaged");
  }
  return Step::Page;
}

void CpuPages::find_chunks() {
  if (!chunk_offsets_.empty()) return;
  ByteReader in(file_.bytes().subspan(begin_), layout_.target.order, begin_);
  const uint32_t count = in.u32();
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t offset = in.file_offset();
    const uint32_t packed_size = in.u32();
    in.u32();
    in.skip(packed_size);
    if (!in.ok()) break;
    chunk_offsets_.push_back(offset);
  }
}

uint64_t CpuPages::block_count() {
  if (!compressed_) return (end_ - begin_ + page_size_ - 1) / page_size_;
  find_chunks();
  return chunk_offsets_.size();
}

void CpuPages::seek_block(uint64_t block) {
  if (!compressed_) {
    position_ = std::min(begin_ + block * page_size_, end_);
    return;
  }
  find_chunks();
  if (block >= chunk_offsets_.size()) return;
  ByteReader in(file_.bytes().subspan(begin_), layout_.target.order, begin_);
  chunks_left_ = in.u32() - static_cast<uint32_t>(block);
  position_ = chunk_offsets_[block];
  chunk_.clear();
  chunk_position_ = 0;
}

}  // namespace strata::tracedat
