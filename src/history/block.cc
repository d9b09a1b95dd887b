// SPDX-License-Identifier: Apache-2.0
#include "history/block.h"

#include <zstd.h>

#include <algorithm>
#include <array>

#include "history/times.h"

namespace strata::history {
namespace {

// What an interval takes at most, in an open block and in columns.
constexpr size_t kMaxInterval = 1 + 5 + kMaxVarint;
constexpr size_t kMaxPlain = kBlockIntervals * kMaxInterval;
// Fast: it runs in the same thread as everything else.
constexpr int kCompression = 1;

constexpr uint32_t groups_of(uint32_t count, uint32_t level) {
  const uint32_t intervals = group_intervals(level);
  return (count + intervals - 1) / intervals;
}

}  // namespace

void OpenBlock::add(uint64_t duration, State state, uint32_t info) {
  if (bytes_.size() - used_ < kMaxInterval)
    bytes_.resize(std::max<size_t>(2 * bytes_.size(), 4 * kMaxInterval));
  uint8_t* at = bytes_.data() + used_;
  *at++ = state;
  at = put_varint(at, info);
  at = put_varint(at, duration);
  used_ = static_cast<uint32_t>(at - bytes_.data());
  ++count_;
}

struct BlockEncoder::Zstd {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ~Zstd() { ZSTD_freeCCtx(context); }
};

BlockEncoder::BlockEncoder() : zstd_(std::make_unique<Zstd>()), plain_(kMaxPlain) {
  packed_.resize(ZSTD_compressBound(kMaxPlain));
  ZSTD_CCtx_setParameter(zstd_->context, ZSTD_c_compressionLevel, kCompression);
  ZSTD_CCtx_setParameter(zstd_->context, ZSTD_c_checksumFlag, 1);
}

BlockEncoder::~BlockEncoder() = default;

EncodedBlock BlockEncoder::encode(const OpenBlock& block) {
  const uint32_t count = block.count();
  std::array<std::vector<StateTimes>, kLevels> levels;
  for (uint32_t level = 0; level < kLevels; ++level) levels[level].resize(groups_of(count, level));
  infos_.resize(count * kMaxVarint);
  states_.resize(count);
  const uint8_t* from = block.bytes_.data();
  const uint8_t* const end = from + block.used_;
  uint8_t* at = plain_.data();
  uint8_t* info_at = infos_.data();
  for (uint32_t i = 0; i < count; ++i) {
    const State state = *from++;
    uint64_t info = 0;
    uint64_t duration = 0;
    from = take_varint(from, end, info);
    from = take_varint(from, end, duration);
    states_[i] = state;
    info_at = put_varint(info_at, info);
    at = put_varint(at, duration);
    levels[0][i / kGroup].ns[state] += duration;
  }
  at = std::copy(infos_.data(), info_at, at);
  at = std::copy(states_.begin(), states_.end(), at);

  EncodedBlock encoded;
  for (uint32_t level = 1; level < kLevels; ++level)
    for (size_t i = 0; i < levels[level - 1].size(); ++i)
      levels[level][i / kFanOut] += levels[level - 1][i];
  for (const StateTimes& group : levels.back()) encoded.times += group;
  summary_.clear();
  for (auto level = levels.rbegin(); level != levels.rend(); ++level)
    for (const StateTimes& group : *level) put_times(summary_, group);

  const size_t packed = ZSTD_compress2(zstd_->context, packed_.data(), packed_.size(),
                                       plain_.data(), static_cast<size_t>(at - plain_.data()));
  encoded.summary = summary_;
  encoded.columns = std::span(packed_.data(), ZSTD_isError(packed) != 0 ? 0 : packed);
  return encoded;
}

struct BlockDecoder::Zstd {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ~Zstd() { ZSTD_freeDCtx(context); }
};

BlockDecoder::BlockDecoder() : zstd_(std::make_unique<Zstd>()), plain_(kMaxPlain) {}

BlockDecoder::~BlockDecoder() = default;

bool BlockDecoder::decode(std::span<const uint8_t> columns, uint32_t count, BlockColumns& into) {
  if (count > kBlockIntervals) return false;
  const size_t size = ZSTD_decompressDCtx(zstd_->context, plain_.data(), plain_.size(),
                                          columns.data(), columns.size());
  if (ZSTD_isError(size) != 0) return false;
  const uint8_t* at = plain_.data();
  const uint8_t* const end = at + size;
  into.durations.resize(count);
  into.infos.resize(count);
  into.states.resize(count);
  for (uint64_t& duration : into.durations)
    if ((at = take_varint(at, end, duration)) == nullptr) return false;
  for (uint32_t& info : into.infos) {
    uint64_t value = 0;
    if ((at = take_varint(at, end, value)) == nullptr || value > UINT32_MAX) return false;
    info = static_cast<uint32_t>(value);
  }
  if (static_cast<size_t>(end - at) != count) return false;
  std::copy(at, end, into.states.begin());
  return std::ranges::all_of(into.states, [](State state) { return state < kStates; });
}

SummaryWalk::SummaryWalk(std::span<const uint8_t> summary, uint32_t count, uint32_t level)
    : at_(summary.data()), end_(summary.data() + summary.size()) {
  TimesList ignored;
  for (uint32_t above = kLevels - 1; above > level; --above) left_ += groups_of(count, above);
  while (next(ignored)) {
  }
  left_ = at_ != nullptr ? groups_of(count, level) : 0;
}

bool SummaryWalk::next(TimesList& times) {
  if (left_ == 0) return false;
  --left_;
  at_ = take_times(at_, end_, times);
  if (at_ == nullptr) left_ = 0;
  return at_ != nullptr;
}

}  // namespace strata::history
