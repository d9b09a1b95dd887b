// SPDX-License-Identifier: Apache-2.0
#include "history/history.h"

#include <algorithm>
#include <cstring>

#include "history/footers.h"
#include "history/pixel_sweep.h"
#include "history/times.h"

namespace strata::history {
namespace {

// Sums are kept for so many blocks: adding up what remains is quick.
constexpr size_t kSummed = 64;
constexpr uint32_t kMaxKey = 1 << 16;

uint64_t distance(int64_t from, int64_t to) {
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

}  // namespace

std::span<const uint8_t> History::bytes() const {
  const Bytes bytes = file_->bytes();
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

Error History::damaged() const {
  if (file_->shrank()) return file_->shrank_error();
  return {file_->path(), std::nullopt, "is damaged; delete it, and it is made anew"};
}

Result<History> History::open(const std::string& path, uint64_t source) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return std::move(file).error();
  History history(std::move(*file));
  if (Status status = history.read_directories(source); !status) return std::move(status).error();
  history.add_up();
  return history;
}

Status History::read_directories(uint64_t source) {
  const Result<std::vector<Footer>> read = read_footers(*file_, kMagic, kVersion, source);
  if (!read) return read.error();
  const std::vector<Footer>& footers = *read;
  begin_ = footers.front().begin;
  end_ = footers.front().end;
  is_complete_ = footers.front().kind == FooterKind::Complete;
  for (size_t i = footers.size(); i-- > 0;) {
    if (Status status = read_directory(footers[i]); !status) return status;
    // Only the last one's have not ended.
    if (i != 0)
      for (RowBlocks& row : rows_) row.open.reset();
  }
  for (const RowBlocks& row : rows_) intervals_ += row.open ? 1 : 0;
  return {};
}

Status History::read_directory(const Footer& footer) {
  const uint8_t* at = bytes().data() + footer.directory;
  const uint8_t* const end = at + footer.directory_size;
  const auto has = [&](uint64_t count, size_t size) {
    return count <= static_cast<uint64_t>(end - at) / size;
  };
  for (uint64_t i = 0; i < footer.rows; ++i) {
    uint32_t length = 0;
    if (!has(1, sizeof length)) return damaged();
    std::memcpy(&length, at, sizeof length);
    at += sizeof length;
    if (length > kMaxKey || !has(length, 1)) return damaged();
    RowBlocks& row = rows_.emplace_back();
    row.key.assign(reinterpret_cast<const char*>(at), length);
    if (!keys_.try_emplace(row.key, static_cast<Row>(rows_.size() - 1)).second) return damaged();
    at += length;
  }
  if (!has(footer.blocks, sizeof(BlockEntry))) return damaged();
  const uint8_t* times = at + footer.blocks * sizeof(BlockEntry);
  for (uint64_t i = 0; i < footer.blocks; ++i, at += sizeof(BlockEntry)) {
    BlockEntry entry;
    std::memcpy(&entry, at, sizeof entry);
    if (!add_block(entry, times, end)) return damaged();
  }
  at = times;
  if (!has(footer.open_intervals, sizeof(OpenInterval))) return damaged();
  for (uint64_t i = 0; i < footer.open_intervals; ++i, at += sizeof(OpenInterval)) {
    OpenInterval open;
    std::memcpy(&open, at, sizeof open);
    if (open.row >= rows_.size() || open.state >= kStates || open.begin > end_) return damaged();
    RowBlocks& row = rows_[open.row];
    if (!row.blocks.empty() && row.blocks.back().end != open.begin) return damaged();
    row.open = open;
  }
  return at == end ? Status() : damaged();
}

bool History::add_block(const BlockEntry& entry, const uint8_t*& times, const uint8_t* end) {
  const uint64_t size = uint64_t{entry.summary_size} + entry.columns_size;
  if (entry.row >= rows_.size() || entry.offset > bytes().size() ||
      size > bytes().size() - entry.offset || entry.count == 0 || entry.count > kBlockIntervals ||
      entry.begin >= entry.end)
    return false;
  std::vector<Block>& blocks = rows_[entry.row].blocks;
  if (!blocks.empty() && blocks.back().end != entry.begin) return false;
  TimesList list;
  const uint8_t* const behind = take_times(times, end, list);
  if (behind == nullptr ||
      list.sum != static_cast<uint64_t>(entry.end) - static_cast<uint64_t>(entry.begin))
    return false;
  blocks.push_back({entry.offset, entry.begin, entry.end, entry.count, entry.summary_size,
                    entry.columns_size, static_cast<uint32_t>(behind - times), times});
  times = behind;
  intervals_ += entry.count;
  return true;
}

void History::add_up() {
  for (RowBlocks& row : rows_) {
    StateTimes sum;
    for (size_t i = 0; i < row.blocks.size(); ++i) {
      if (i % kSummed == 0) row.sums.push_back(sum);
      times_of(row.blocks[i]).add_to(sum);
    }
  }
}

std::optional<Row> History::find(std::string_view key) const {
  const auto found = keys_.find(std::string(key));
  return found != keys_.end() ? std::optional(found->second) : std::nullopt;
}

size_t History::find_block(const RowBlocks& row, int64_t time) const {
  const auto found = std::ranges::upper_bound(row.blocks, time, {}, &Block::end);
  return static_cast<size_t>(found - row.blocks.begin());
}

TimesList History::times_of(const Block& block) const {
  TimesList times;
  take_times(block.times, block.times + block.times_size, times);
  return times;
}

const BlockColumns* History::decode(const Block& block) {
  if (decoded_.offset == block.offset) return &decoded_.columns;
  decoded_.offset = UINT64_MAX;
  // All times that follow from it lie within the block.
  if (!decoder_->decode(bytes().subspan(block.offset + block.summary_size, block.columns_size),
                        block.count, distance(block.begin, block.end), decoded_.columns))
    return nullptr;
  decoded_.offset = block.offset;
  return &decoded_.columns;
}

template <typename Visit>
bool History::each_of(const Block& block, int64_t begin, int64_t end, Visit&& visit) {
  const BlockColumns* columns = decode(block);
  if (columns == nullptr) return false;
  int64_t time = block.begin;
  for (uint32_t i = 0; i < block.count && time < end; ++i) {
    const int64_t next = time + static_cast<int64_t>(columns->durations[i]);
    if (next > begin) visit(Interval{time, next, columns->states[i], columns->infos[i]});
    time = next;
  }
  return true;
}

std::optional<Interval> History::open_interval(const RowBlocks& row) const {
  if (!row.open || row.open->begin >= end_) return std::nullopt;
  return Interval{row.open->begin, end_, row.open->state, row.open->info};
}

Status History::each(Row number, int64_t begin, int64_t end,
                     const std::function<void(const Interval&)>& visit) {
  const RowBlocks& row = rows_[number];
  for (size_t i = find_block(row, begin); i < row.blocks.size() && row.blocks[i].begin < end; ++i)
    if (!each_of(row.blocks[i], begin, end, visit)) return damaged();
  const std::optional<Interval> open = open_interval(row);
  if (open && open->begin < end && open->end > begin) visit(*open);
  return {};
}

Result<std::optional<Interval>> History::at(Row row, int64_t time) {
  std::optional<Interval> found;
  if (time == INT64_MAX) return found;
  const Status status =
      each(row, time, time + 1, [&](const Interval& interval) { found = interval; });
  if (!status) return status.error();
  return found;
}

Result<StateTimes> History::times(Row number, int64_t begin, int64_t end) {
  StateTimes sum;
  if (begin >= end) return sum;
  const RowBlocks& row = rows_[number];
  const auto add = [&](const Interval& interval) {
    sum.ns[interval.state] += static_cast<uint64_t>(std::min(interval.end, end)) -
                              static_cast<uint64_t>(std::max(interval.begin, begin));
  };
  const auto is_whole = [&](const Block& block) {
    return block.begin >= begin && block.end <= end;
  };
  for (size_t i = find_block(row, begin); i < row.blocks.size() && row.blocks[i].begin < end;) {
    const size_t next = i + kSummed;
    if (i % kSummed == 0 && next < row.blocks.size() && row.blocks[i].begin >= begin &&
        row.blocks[next].begin <= end) {
      for (State state = 0; state < kStates; ++state)
        sum.ns[state] += row.sums[next / kSummed].ns[state] - row.sums[i / kSummed].ns[state];
      i = next;
      continue;
    }
    if (is_whole(row.blocks[i]))
      times_of(row.blocks[i]).add_to(sum);
    else if (!each_of(row.blocks[i], begin, end, add))
      return damaged();
    ++i;
  }
  const std::optional<Interval> open = open_interval(row);
  if (open && open->begin < end && open->end > begin) add(*open);
  return sum;
}

Status History::pixels(Row number, int64_t begin, int64_t end, const Weights& weights,
                       std::span<Pixel> pixels) {
  std::ranges::fill(pixels, Pixel{});
  if (begin >= end || pixels.empty()) return {};
  const RowBlocks& row = rows_[number];
  PixelSweep sweep(begin, end, weights, pixels);
  const auto paint = [&](const Interval& interval) {
    sweep.add(interval.begin, interval.end, interval.state);
  };
  for (size_t i = find_block(row, begin); i < row.blocks.size() && row.blocks[i].begin < end; ++i) {
    const Block& block = row.blocks[i];
    const auto duration = static_cast<double>(distance(block.begin, block.end));
    if (duration <= sweep.width()) {
      sweep.add(block.begin, block.end, times_of(block));
      continue;
    }
    // The coarsest groups that are shorter than a pixel, of those that there are.
    uint32_t level = kLevels;
    while (level > 0 && duration * group_intervals(level - 1) / block.count > sweep.width())
      --level;
    if (level == 0) {
      if (!each_of(block, begin, end, paint)) return damaged();
      continue;
    }
    --level;
    SummaryWalk walk(bytes().subspan(block.offset, block.summary_size), block.count, level);
    int64_t time = block.begin;
    for (TimesList times; walk.next(times);) {
      if (times.sum == 0 || times.sum > distance(time, block.end)) return damaged();
      const int64_t next = time + static_cast<int64_t>(times.sum);
      // Among many short intervals there may be a long one.
      if (static_cast<double>(times.sum) > sweep.width()) {
        if (!each_of(block, std::max(begin, time), std::min(end, next), paint)) return damaged();
      } else {
        sweep.add(time, next, times);
      }
      time = next;
    }
    if (time != block.end) return damaged();
  }
  if (const std::optional<Interval> open = open_interval(row)) paint(*open);
  sweep.finish();
  return {};
}

}  // namespace strata::history
