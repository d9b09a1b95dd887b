// SPDX-License-Identifier: Apache-2.0
#include "history/block.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/varint.h"
#include "history/checksum.h"
#include "history/times.h"
#include "history/tokens.h"

namespace strata::history {
namespace {

// Of an interval: token and length; the state and the info of a new token.
constexpr size_t kMostPlain = kBlockIntervals * (2 + 1 + kMaxVarint);
constexpr size_t kMostBits = kBlockIntervals * sizeof(uint64_t);
constexpr unsigned kLongest = 64;  // bits of a duration
// With so many, wherever they begin, one load has them, and the sum of a block's is a number.
constexpr unsigned kCommonLongest = 52;
// Fast: it runs in the same thread as everything else.
constexpr int kCompression = -1;

constexpr uint32_t groups_of(uint32_t count, uint32_t level) {
  const uint32_t intervals = group_intervals(level);
  return count <= intervals ? 0 : (count + intervals - 1) / intervals;
}

// Writes bits one after the other, the lowest of each byte first. What it stores may reach seven
// bytes further than they do.
class BitWriter {
 public:
  explicit BitWriter(uint8_t* at) : at_(at) {}

  // Up to kMostAtOnce, the lowest of the value; above them it is 0.
  static constexpr unsigned kMostAtOnce = 56;
  void put(uint64_t value, unsigned bits) {
    open_ |= value << used_;
    used_ += bits;
    std::memcpy(at_, &open_, sizeof open_);
    at_ += used_ / 8;
    open_ >>= used_ & ~7u;
    used_ %= 8;
  }
  uint8_t* end() const { return at_ + (used_ + 7) / 8; }

 private:
  uint8_t* at_;
  uint64_t open_ = 0;
  unsigned used_ = 0;  // of its bits; below 8 between two calls
};

// The bits that begin at bit `at`, up to kCommonLongest.
uint64_t take_bits(const uint8_t* bytes, uint64_t at, unsigned bits) {
  uint64_t word = 0;
  std::memcpy(&word, bytes + at / 8, sizeof word);
  return word >> at % 8 & ((uint64_t{1} << bits) - 1);
}

bool decode_durations(const uint8_t* bits, const uint8_t* lengths, uint32_t count,
                      uint64_t duration, BlockColumns& into) {
  uint64_t at = 0;
  uint64_t left = duration;
  for (uint32_t i = 0; i < count; ++i) {
    const unsigned rest = lengths[i] - 1u;
    const unsigned low = std::min(rest, 32u);
    const uint64_t value = take_bits(bits, at, low) | take_bits(bits, at + low, rest - low) << low |
                           uint64_t{1} << rest;
    at += rest;
    if (value > left) return false;
    left -= value;
    into.durations[i] = value;
  }
  return left == 0;
}

// Where none is longer than that.
bool decode_common_durations(const uint8_t* bits, const uint8_t* lengths, uint32_t count,
                             uint64_t duration, BlockColumns& into) {
  uint64_t at = 0;
  uint64_t sum = 0;
  uint64_t* to = into.durations.data();
  for (uint32_t i = 0; i < count; ++i) {
    const unsigned rest = lengths[i] - 1u;
    const uint64_t value = take_bits(bits, at, rest) | uint64_t{1} << rest;
    at += rest;
    sum += value;
    to[i] = value;
  }
  return sum == duration;
}

bool decode_meanings(const uint8_t* tokens, uint32_t count, const uint8_t* at, const uint8_t* end,
                     BlockColumns& into) {
  TokenTable table;
  State* states = into.states.data();
  uint32_t* infos = into.infos.data();
  for (uint32_t i = 0; i < count; ++i) {
    Meaning meaning = table[tokens[i]];
    if (tokens[i] == TokenTable::kNew) {
      uint64_t info = 0;
      if (at == end || *at >= kStates) return false;
      const State state = *at++;
      at = take_varint(at, end, info);
      if (at == nullptr || info > UINT32_MAX) return false;
      meaning = {state, static_cast<uint32_t>(info)};
      table.add(meaning);
    }
    states[i] = meaning.state();
    infos[i] = meaning.info();
  }
  return at == end;
}

}  // namespace

size_t OpenBlock::grow() {
  const size_t growth = next_growth();
  const auto capacity = static_cast<uint32_t>(capacity_ + growth / sizeof(uint64_t));
  auto words = std::make_unique_for_overwrite<uint64_t[]>(capacity);
  std::copy_n(words_.get(), count_, words.get());
  words_ = std::move(words);
  capacity_ = capacity;
  return growth;
}

size_t OpenBlock::add_odd(uint64_t duration, State state, uint32_t info) {
  const size_t before = odd_.capacity();
  odd_.push_back({duration, info});
  add(kOdd, state, 0);
  return (odd_.capacity() - before) * sizeof(Odd);
}

// The columns on their way: what is to be packed, and the durations' bits.
class BlockEncoder::Columns {
 public:
  // There is room for as many as the most intervals take.
  Columns(uint8_t* plain, uint8_t* bits, uint32_t count)
      : plain_(plain),
        token_(plain),
        length_(plain + count),
        meaning_(plain + 2 * size_t{count}),
        bits_(bits),
        writer_(bits) {}

  void add(uint64_t duration, Meaning meaning) {
    const uint8_t token = tokens_.find(meaning);
    *token_++ = token;
    if (token == TokenTable::kNew) [[unlikely]] {
      *meaning_++ = meaning.state();
      meaning_ = put_varint(meaning_, meaning.info());
    }
    const auto length = static_cast<unsigned>(std::bit_width(duration));
    *length_++ = static_cast<uint8_t>(length);
    const unsigned rest = length - 1;
    const uint64_t value = duration ^ uint64_t { 1 } << rest;
    if (rest <= BitWriter::kMostAtOnce) [[likely]] {
      writer_.put(value, rest);
    } else {
      writer_.put(value & UINT32_MAX, 32);
      writer_.put(value >> 32, rest - 32);
    }
  }

  std::span<const uint8_t> plain() const { return {plain_, meaning_}; }
  std::span<const uint8_t> bits() const { return {bits_, writer_.end()}; }

 private:
  uint8_t* plain_;
  uint8_t* token_;
  uint8_t* length_;
  uint8_t* meaning_;
  uint8_t* bits_;
  BitWriter writer_;
  TokenTable tokens_;
};

// The times of all groups on their way, of each level in its own list.
class BlockEncoder::Summary {
 public:
  Summary(std::array<std::vector<uint8_t>, kLevels>& levels, uint32_t count)
      : levels_(levels), count_(count) {
    for (std::vector<uint8_t>& level : levels_) level.clear();
  }

  void add(uint64_t duration, State state) {
    open_[0].ns[state] += duration;
    if (++done_ % kGroup == 0) [[unlikely]]
      end_groups();
  }
  // Gives the block's own times.
  const StateTimes& finish() {
    if (count_ % kGroup != 0) end_groups();
    return times_;
  }

 private:
  // What ends a group of a level goes into the one above; the last one's into the block's.
  [[gnu::noinline]] void end_groups() {
    for (uint32_t level = 0; level < kLevels; ++level) {
      if (done_ % group_intervals(level) != 0 && done_ != count_) return;
      if (groups_of(count_, level) > 0) put_times(levels_[level], open_[level]);
      (level + 1 < kLevels ? open_[level + 1] : times_) += open_[level];
      open_[level] = {};
    }
  }

  std::array<std::vector<uint8_t>, kLevels>& levels_;
  std::array<StateTimes, kLevels> open_;
  StateTimes times_;
  uint32_t count_;
  uint32_t done_ = 0;
};

struct BlockEncoder::Zstd {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ~Zstd() { ZSTD_freeCCtx(context); }
};

BlockEncoder::BlockEncoder()
    : zstd_(std::make_unique<Zstd>()),
      plain_(kMostPlain),
      columns_(sizeof(uint32_t) + ZSTD_compressBound(kMostPlain) + kMostBits + sizeof(uint64_t)) {
  ZSTD_CCtx_setParameter(zstd_->context, ZSTD_c_compressionLevel, kCompression);
}

BlockEncoder::~BlockEncoder() = default;

EncodedBlock BlockEncoder::encode(const OpenBlock& block) {
  // The bits behind what is packed at most, until it is known how much it is.
  Columns columns(plain_.data(), columns_.data() + columns_.size() - kMostBits - sizeof(uint64_t),
                  block.count());
  Summary summary(levels_, block.count());
  block.each([&](uint64_t duration, State state, uint32_t info) {
    columns.add(duration, {state, info});
    summary.add(duration, state);
  });
  EncodedBlock encoded{.summary = {}, .columns = pack(columns), .times = summary.finish()};
  summary_.clear();
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
    summary_.insert(summary_.end(), level->begin(), level->end());
  encoded.summary = summary_;
  return encoded;
}

std::span<const uint8_t> BlockEncoder::pack(const Columns& columns) {
  const std::span<const uint8_t> plain = columns.plain();
  const std::span<const uint8_t> bits = columns.bits();
  uint8_t* at = columns_.data() + sizeof(uint32_t);
  const size_t packed = ZSTD_compress2(zstd_->context, at, static_cast<size_t>(bits.data() - at),
                                       plain.data(), plain.size());
  if (ZSTD_isError(packed) != 0) return {};
  const auto packed_size = static_cast<uint32_t>(packed);
  std::memcpy(columns_.data(), &packed_size, sizeof packed_size);
  at += packed;
  std::memmove(at, bits.data(), bits.size());
  at += bits.size();
  const std::span<const uint8_t> all(columns_.data(), at);
  const uint64_t sum = checksum(all);
  std::memcpy(at, &sum, sizeof sum);
  return {columns_.data(), all.size() + sizeof sum};
}

struct BlockDecoder::Zstd {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ~Zstd() { ZSTD_freeDCtx(context); }
};

BlockDecoder::BlockDecoder() : zstd_(std::make_unique<Zstd>()), plain_(kMostPlain) {}

BlockDecoder::~BlockDecoder() = default;

bool BlockDecoder::decode(std::span<const uint8_t> columns, uint32_t count, uint64_t duration,
                          BlockColumns& into) {
  uint32_t packed = 0;
  uint64_t sum = 0;
  if (count > kBlockIntervals || columns.size() < sizeof packed + sizeof sum) return false;
  const size_t size = columns.size() - sizeof sum;
  std::memcpy(&sum, columns.data() + size, sizeof sum);
  std::memcpy(&packed, columns.data(), sizeof packed);
  if (sum != checksum(columns.first(size)) || packed > size - sizeof packed) return false;
  const size_t plain = ZSTD_decompressDCtx(zstd_->context, plain_.data(), plain_.size(),
                                           columns.data() + sizeof packed, packed);
  if (ZSTD_isError(plain) != 0 || plain < 2 * size_t{count}) return false;

  const uint8_t* const lengths = plain_.data() + count;
  unsigned shortest = kLongest;
  unsigned longest = 1;
  uint64_t bits = 0;
  for (uint32_t i = 0; i < count; ++i) {
    shortest = std::min<unsigned>(shortest, lengths[i]);
    longest = std::max<unsigned>(longest, lengths[i]);
    bits += lengths[i] - 1u;
  }
  // With the checksum behind them, every load of bits is of bytes that are there.
  if (shortest < 1 || longest > kLongest || (bits + 7) / 8 != size - sizeof packed - packed)
    return false;
  const uint8_t* const from = columns.data() + sizeof packed + packed;
  const bool is_right = longest <= kCommonLongest
                            ? decode_common_durations(from, lengths, count, duration, into)
                            : decode_durations(from, lengths, count, duration, into);
  return is_right &&
         decode_meanings(plain_.data(), count, lengths + count, plain_.data() + plain, into);
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
