// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <algorithm>
#include <bit>

#include "base/varint.h"
#include "history/checksum.h"
#include "history/record_hash.h"
#include "history/records.h"

namespace strata::history {
namespace {

// At a checkpoint, fewer than that wait for more and are written again with the next.
constexpr size_t kFewRecords = 64;
constexpr int kCompression = 1;

size_t length_of(const Record& record) {
  const auto duration = static_cast<uint64_t>(record.end) - static_cast<uint64_t>(record.begin);
  return static_cast<size_t>(std::bit_width(duration) - (duration == 0 ? 0 : 1)) / 4;
}

}  // namespace

struct RecordWriter::Zstd {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ~Zstd() { ZSTD_freeCCtx(context); }
};

Result<RecordWriter> RecordWriter::create(const std::string& path, uint64_t source) {
  Result<GrowingFile> file = GrowingFile::create(path);
  if (!file) return std::move(file).error();
  return RecordWriter(*std::move(file), source);
}

RecordWriter::RecordWriter(GrowingFile file, uint64_t source)
    : file_(std::move(file)), source_(source), zstd_(std::make_unique<Zstd>()) {
  ZSTD_CCtx_setParameter(zstd_->context, ZSTD_c_compressionLevel, kCompression);
  ZSTD_CCtx_setParameter(zstd_->context, ZSTD_c_checksumFlag, 1);
  // A footer at 0 is none: something is always before it.
  file_.append(&kRecordsMagic, sizeof kRecordsMagic);
}

RecordWriter::RecordWriter(RecordWriter&&) noexcept = default;
RecordWriter::~RecordWriter() = default;

void RecordWriter::add(uint8_t kind, size_t values, const Record& record) {
  ++records_;
  Pending& pending = pending_[kind][length_of(record)];
  pending.values = values;
  pending.records.push_back(record);
  if (pending.records.size() < kBlockRecords) return;
  write_block(kind, pending, new_blocks_);
  pending.records.clear();
}

void RecordWriter::add_open(uint8_t kind, size_t values, const Record& record) {
  open_[kind].values = values;
  open_[kind].records.push_back(record);
}

void RecordWriter::write_block(uint8_t kind, const Pending& pending,
                               std::vector<RecordBlock>& blocks) {
  const std::span<const Record> all(pending.records);
  for (size_t first = 0; first < all.size(); first += kBlockRecords) {
    const auto part = all.subspan(first, std::min<size_t>(kBlockRecords, all.size() - first));
    RecordBlock block{.offset = file_.size(),
                      .begin = part.front().begin,
                      .end = part.front().end,
                      .subjects = 0,
                      .count = static_cast<uint32_t>(part.size()),
                      .size = 0,
                      .kind = kind,
                      .values = static_cast<uint8_t>(pending.values),
                      .reserved = {}};
    plain_.resize(part.size() * (pending.values + 2) * kMaxVarint);
    uint8_t* at = plain_.data();
    int64_t end = 0;
    for (const Record& record : part) {
      block.begin = std::min(block.begin, record.begin);
      block.end = std::max(block.end, record.end);
      block.subjects |= subject_bit(record.values[0]);
      // Modulo 2^64: any two times have a difference.
      at = put_varint(at, zigzag(static_cast<int64_t>(static_cast<uint64_t>(record.end) -
                                                      static_cast<uint64_t>(end))));
      end = record.end;
    }
    for (const Record& record : part)
      at = put_varint(at, static_cast<uint64_t>(record.end) - static_cast<uint64_t>(record.begin));
    for (size_t value = 0; value < pending.values; ++value)
      for (const Record& record : part) at = put_varint(at, zigzag(record.values[value]));
    const auto size = static_cast<size_t>(at - plain_.data());
    packed_.resize(ZSTD_compressBound(size));
    const size_t packed =
        ZSTD_compress2(zstd_->context, packed_.data(), packed_.size(), plain_.data(), size);
    block.size = ZSTD_isError(packed) != 0 ? 0 : static_cast<uint32_t>(packed);
    file_.append(packed_.data(), block.size);
    blocks.push_back(block);
  }
}

// What may change until the next checkpoint comes last: who reads takes it from the last one alone.
void RecordWriter::write_directory(int64_t time) {
  std::vector<RecordBlock> passing;
  for (uint8_t kind = 0; kind < kRecordKinds; ++kind) {
    for (Pending& pending : pending_[kind]) {
      const bool stays = is_complete_ || pending.records.size() >= kFewRecords;
      write_block(kind, pending, stays ? new_blocks_ : passing);
      if (stays) pending.records.clear();
    }
    write_block(kind, open_[kind], passing);
    open_[kind].records.clear();
  }
  std::vector<uint8_t> directory;
  for (const auto* blocks : {&new_blocks_, &passing}) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(blocks->data());
    directory.insert(directory.end(), bytes, bytes + blocks->size() * sizeof(RecordBlock));
  }
  Footer footer{.magic = kRecordsMagic,
                .version = kRecordsVersion,
                .kind = is_complete_ ? FooterKind::Complete : FooterKind::Checkpoint,
                .source = source_,
                .begin = 0,
                .end = time,
                .directory = file_.size(),
                .directory_size = directory.size(),
                .rows = 0,
                .blocks = new_blocks_.size(),
                .open_intervals = passing.size(),
                .previous = previous_footer_,
                .checksum = 0};
  footer.checksum = checksum_of(footer, directory);
  file_.append(directory.data(), directory.size());
  previous_footer_ = file_.size();
  file_.append(&footer, sizeof footer);
  file_.flush();
  new_blocks_.clear();
}

Status RecordWriter::checkpoint(int64_t time) {
  write_directory(time);
  return file_.status();
}

Status RecordWriter::finish(int64_t time) {
  is_complete_ = true;
  return checkpoint(time);
}

}  // namespace strata::history
