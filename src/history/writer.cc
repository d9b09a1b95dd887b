// SPDX-License-Identifier: Apache-2.0
#include "history/writer.h"

#include <algorithm>

#include "history/checksum.h"
#include "history/times.h"

namespace strata::history {
namespace {

constexpr size_t kDirectoryBlocks = 4096;

}  // namespace

Result<Writer> Writer::create(const std::string& path, uint64_t source, size_t most_open) {
  Result<GrowingFile> file = GrowingFile::create(path);
  if (!file) return std::move(file).error();
  return Writer(*std::move(file), source, most_open);
}

Writer::Writer(GrowingFile file, uint64_t source, size_t most_open)
    : file_(std::move(file)),
      source_(source),
      most_open_(most_open),
      encoder_(std::make_unique<BlockEncoder>()) {
  // A footer at 0 is none: something is always before it.
  file_.append(&kMagic, sizeof kMagic);
}

Row Writer::row(std::string_view key) {
  const auto [found, is_new] = keys_.try_emplace(std::string(key), static_cast<Row>(rows_.size()));
  if (is_new) {
    rows_.emplace_back();
    new_keys_.push_back(&found->first);
  }
  return found->second;
}

void Writer::begin(OpenRow& open, int64_t time) {
  open.begin = time;
  open.block_begin = time;
  begin_ = std::min(begin_, time);
}

uint64_t Writer::intervals() const {
  uint64_t sum = written_;
  for (const OpenRow& open : rows_) sum += open.block.count();
  return sum;
}

void Writer::make_room(OpenRow& open, Row row) {
  if (open.block.is_full()) return write_block(open, row);
  if (open_bytes_ + open.block.next_growth() > most_open_) write_largest();
  if (!open.block.has_room()) open_bytes_ += open.block.grow();
}

void Writer::write_block(OpenRow& open, Row row) {
  const EncodedBlock encoded = encoder_->encode(open.block);
  new_blocks_.push_back({.offset = file_.size(),
                         .begin = open.block_begin,
                         .end = open.begin,
                         .row = row,
                         .count = open.block.count(),
                         .summary_size = static_cast<uint32_t>(encoded.summary.size()),
                         .columns_size = static_cast<uint32_t>(encoded.columns.size())});
  new_times_.push_back(encoded.times);
  file_.append(encoded.summary.data(), encoded.summary.size());
  file_.append(encoded.columns.data(), encoded.columns.size());
  end_ = std::max(end_, open.begin);
  written_ += open.block.count();
  open.block.clear();
  open.block_begin = open.begin;
  // A directory of so many that keeping them does not add up.
  if (new_blocks_.size() == kDirectoryBlocks) write_directory(FooterKind::Directory, {});
}

// Those that are above the average: half of what is open, or more.
void Writer::write_largest() {
  const size_t average = open_bytes_ / rows_.size();
  for (Row row = 0; row < rows_.size(); ++row) {
    OpenRow& open = rows_[row];
    if (open.block.memory() < average) continue;
    if (!open.block.empty()) write_block(open, row);
    open_bytes_ -= open.block.memory();
    open.block.release();
  }
}

Status Writer::checkpoint(int64_t time) {
  write_open_rows(time);
  return file_.status();
}

Status Writer::finish(int64_t time) {
  is_complete_ = true;
  return checkpoint(time);
}

void Writer::write_open_rows(int64_t time) {
  std::vector<OpenInterval> intervals;
  end_ = std::max(end_, time);
  for (Row row = 0; row < rows_.size(); ++row) {
    OpenRow& open = rows_[row];
    if (!open.is_begun()) continue;
    if (!open.block.empty()) write_block(open, row);
    intervals.push_back({open.begin, row, open.info, open.state, {}});
    end_ = std::max(end_, open.begin);
  }
  write_directory(is_complete_ ? FooterKind::Complete : FooterKind::Checkpoint, intervals);
  file_.flush();
}

void Writer::write_directory(FooterKind kind, const std::vector<OpenInterval>& intervals) {
  std::vector<uint8_t> directory;
  const auto put = [&](const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    directory.insert(directory.end(), bytes, bytes + size);
  };
  for (const std::string* key : new_keys_) {
    const auto length = static_cast<uint32_t>(key->size());
    put(&length, sizeof length);
    put(key->data(), length);
  }
  put(new_blocks_.data(), new_blocks_.size() * sizeof(BlockEntry));
  for (const StateTimes& times : new_times_) put_times(directory, times);
  put(intervals.data(), intervals.size() * sizeof(OpenInterval));

  Footer footer{.magic = kMagic,
                .version = kVersion,
                .kind = kind,
                .source = source_,
                .begin = std::min(begin_, end_),
                .end = end_,
                .directory = file_.size(),
                .directory_size = directory.size(),
                .rows = new_keys_.size(),
                .blocks = new_blocks_.size(),
                .open_intervals = intervals.size(),
                .previous = previous_footer_,
                .checksum = 0};
  footer.checksum = checksum_of(footer, directory);
  file_.append(directory.data(), directory.size());
  previous_footer_ = file_.size();
  file_.append(&footer, sizeof footer);
  new_keys_.clear();
  new_blocks_.clear();
  new_times_.clear();
}

}  // namespace strata::history
