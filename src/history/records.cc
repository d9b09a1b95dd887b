// SPDX-License-Identifier: Apache-2.0
#include "history/records.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "base/varint.h"
#include "history/footers.h"
#include "history/record_hash.h"

namespace strata::history {

struct Records::Zstd {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ~Zstd() { ZSTD_freeDCtx(context); }
};

Records::Records(MappedFile file)
    : file_(std::make_unique<MappedFile>(std::move(file))),
      zstd_(std::make_unique<Zstd>()),
      plain_(size_t{kBlockRecords} * (kMostValues + 2) * kMaxVarint) {}

Records::Records(Records&&) noexcept = default;
Records& Records::operator=(Records&&) noexcept = default;
Records::~Records() = default;

Error Records::damaged() const {
  if (file_->shrank()) return file_->shrank_error();
  return {file_->path(), std::nullopt, "is damaged; delete it, and it is made anew"};
}

Result<Records> Records::open(const std::string& path, uint64_t source) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return std::move(file).error();
  Records records(std::move(*file));
  if (Status status = records.read_directories(source); !status) return std::move(status).error();
  return records;
}

Status Records::read_directories(uint64_t source) {
  const Result<std::vector<Footer>> footers =
      read_footers(*file_, kRecordsMagic, kRecordsVersion, source);
  if (!footers) return footers.error();
  const auto* bytes = reinterpret_cast<const uint8_t*>(file_->bytes().data());
  for (const Footer& footer : *footers) {
    const uint64_t room = footer.directory_size / sizeof(RecordBlock);
    if (footer.blocks > room || footer.open_intervals > room - footer.blocks) return damaged();
    // Only the last one's passing blocks still count.
    const uint64_t passing = &footer == &footers->front() ? footer.open_intervals : 0;
    if (!add_blocks(bytes + footer.directory, footer.blocks + passing)) return damaged();
  }
  end_ = footers->front().end;
  is_complete_ = footers->front().kind == FooterKind::Complete;
  return {};
}

bool Records::add_blocks(const uint8_t* at, uint64_t count) {
  const uint64_t size = file_->bytes().size();
  for (uint64_t i = 0; i < count; ++i, at += sizeof(RecordBlock)) {
    RecordBlock block;
    std::memcpy(&block, at, sizeof block);
    if (block.offset > size || block.size > size - block.offset || block.count == 0 ||
        block.count > kBlockRecords || block.kind >= kRecordKinds || block.values == 0 ||
        block.values > kMostValues || block.begin > block.end)
      return false;
    blocks_.push_back(block);
    count_ += block.count;
  }
  return true;
}

Status Records::decode(const RecordBlock& block, std::vector<Record>& into) {
  const Bytes packed = file_->bytes().subspan(block.offset, block.size);
  const size_t size = ZSTD_decompressDCtx(zstd_->context, plain_.data(), plain_.size(),
                                          packed.data(), packed.size());
  if (ZSTD_isError(size) != 0) return damaged();
  const uint8_t* at = plain_.data();
  const uint8_t* const behind = at + size;
  into.assign(block.count, {});
  uint64_t number = 0;
  uint64_t end = 0;
  for (Record& record : into) {
    if ((at = take_varint(at, behind, number)) == nullptr) return damaged();
    end += static_cast<uint64_t>(from_zigzag(number));
    record.end = static_cast<int64_t>(end);
  }
  for (Record& record : into) {
    if ((at = take_varint(at, behind, number)) == nullptr) return damaged();
    record.begin = static_cast<int64_t>(static_cast<uint64_t>(record.end) - number);
    if (record.begin > record.end) return damaged();
  }
  for (size_t value = 0; value < block.values; ++value) {
    for (Record& record : into) {
      if ((at = take_varint(at, behind, number)) == nullptr) return damaged();
      record.values[value] = from_zigzag(number);
    }
  }
  return at == behind ? Status() : damaged();
}

Records::Walk::Walk(Records& records, uint8_t kind, int64_t begin, int64_t end,
                    std::optional<int64_t> subject)
    : records_(&records), kind_(kind), begin_(begin), end_(end), subject_(subject) {}

bool Records::Walk::may_have(const RecordBlock& block) const {
  return block.kind == kind_ && block.end >= begin_ && block.begin <= end_ &&
         (!subject_ || (block.subjects & subject_bit(*subject_)) != 0);
}

Result<const Record*> Records::Walk::next() {
  constexpr const Record* kNone = nullptr;
  if (records_ == nullptr) return kNone;
  while (true) {
    for (; next_ < block_.size(); ++next_) {
      const Record& record = block_[next_];
      if (record.end < begin_ || record.begin > end_) continue;
      return &block_[next_++];
    }
    while (next_block_ < records_->blocks_.size() && !may_have(records_->blocks_[next_block_]))
      ++next_block_;
    if (next_block_ == records_->blocks_.size()) return kNone;
    next_ = 0;
    ++blocks_read_;
    if (Status status = records_->decode(records_->blocks_[next_block_++], block_); !status)
      return std::move(status).error();
  }
}

}  // namespace strata::history
