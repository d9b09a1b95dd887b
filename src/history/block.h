// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "history/interval.h"
#include "history/times.h"

namespace strata::history {

// Up to kBlockIntervals intervals of one row that follow each other, as they lie in the file. Two
// parts:
//
//   summary   how long the row was in each state in every kGroup x 16 intervals, then in every
//             kGroup x 4, then in every kGroup (times.h): what a view from further away needs.
//             Levels of which the block is one group are left out. Not compressed
//   columns   32 bits, the size of what is packed; packed by zstd: all tokens, all lengths, then
//             what new tokens mean; not packed: the durations' bits; a checksum of all of it
//
// A *token*, a byte, stands for a state and its info, of which a row has few: the place in a small
// table (tokens.h) that encoder and decoder fill alike. A *length*, a byte, says how many bits a
// duration has; those below its highest follow each other without a gap. These do not compress, so
// nobody tries: that is most of a block's bytes, and reading one is a load and a shift.
//
// The times of a group are exact, so that times over any range are exact, too, wherever the range
// begins and ends: groups in its middle, intervals at its ends.
inline constexpr uint32_t kBlockIntervals = 2048;
inline constexpr uint32_t kGroup = 64;
inline constexpr uint32_t kFanOut = 4;
inline constexpr uint32_t kLevels = 3;  // of summaries; a block's own times are in the directory

// How many intervals a group of a level has: of 0 the fewest.
constexpr uint32_t group_intervals(uint32_t level) {
  uint32_t intervals = kGroup;
  for (; level > 0; --level) intervals *= kFanOut;
  return intervals;
}

// Intervals on their way into a block: as a rule eight bytes each, so that adding one is a store.
// The memory grows with them, since there are many rows, and most of them are quiet.
class OpenBlock {
 public:
  bool has_room() const { return count_ < capacity_; }
  // How many bytes it takes more when it has grown. One that is full does not grow.
  size_t next_growth() const { return std::max(kFewest, capacity_) * sizeof(uint64_t); }
  // Gives that, as it was before.
  size_t grow();
  // Whether it does not fit into eight bytes; then it is for add_odd().
  static bool is_odd(uint64_t duration, uint32_t info) {
    return duration >= kOdd || info >= kOddInfo;
  }
  // Where there is room, one that lasted 1 ns at least.
  void add(uint64_t duration, State state, uint32_t info) {
    words_[count_++] = duration << 32 | info << kStateBits | state;
  }
  // Gives how many bytes it takes more.
  size_t add_odd(uint64_t duration, State state, uint32_t info);
  uint32_t count() const { return count_; }
  bool is_full() const { return count_ == kBlockIntervals; }
  bool empty() const { return count_ == 0; }
  size_t memory() const { return capacity_ * sizeof(uint64_t) + odd_.capacity() * sizeof(Odd); }
  void clear() {
    count_ = 0;
    odd_.clear();
  }
  // Its memory too.
  void release() { *this = OpenBlock(); }

  // Calls visit(duration, state, info) for each.
  template <typename Visit>
  void each(Visit&& visit) const {
    const Odd* odd = odd_.data();
    for (uint32_t i = 0; i < count_; ++i) {
      uint64_t duration = words_[i] >> 32;
      auto info = static_cast<uint32_t>(words_[i]) >> kStateBits;
      const auto state = static_cast<State>(words_[i] % kStates);
      if (duration == kOdd) [[unlikely]] {
        duration = odd->duration;
        info = odd->info;
        ++odd;
      }
      visit(duration, state, info);
    }
  }

 private:
  static constexpr uint64_t kOdd = UINT32_MAX;  // in the duration's place: it is beside
  static constexpr uint32_t kOddInfo = 1u << (32 - kStateBits);
  static constexpr uint32_t kFewest = 8;
  struct Odd {
    uint64_t duration;
    uint32_t info;
  };

  std::unique_ptr<uint64_t[]> words_;  // the duration above, then the info, then the state
  uint32_t capacity_ = 0;
  uint32_t count_ = 0;
  std::vector<Odd> odd_;
};

// A block as it goes into the file.
struct EncodedBlock {
  std::span<const uint8_t> summary;  // valid until the next is encoded
  std::span<const uint8_t> columns;
  StateTimes times;
};

class BlockEncoder {
 public:
  BlockEncoder();
  ~BlockEncoder();
  BlockEncoder(const BlockEncoder&) = delete;
  BlockEncoder& operator=(const BlockEncoder&) = delete;

  EncodedBlock encode(const OpenBlock& block);

 private:
  struct Zstd;
  class Columns;
  class Summary;
  std::span<const uint8_t> pack(const Columns& columns);

  std::unique_ptr<Zstd> zstd_;
  std::vector<uint8_t> plain_;                        // what is to be packed
  std::vector<uint8_t> columns_;                      // as long as they may become
  std::array<std::vector<uint8_t>, kLevels> levels_;  // of the summary
  std::vector<uint8_t> summary_;
};

// A block's intervals without their times: durations, from which the times follow. Room for as many
// as a block may have.
struct BlockColumns {
  std::vector<uint64_t> durations = std::vector<uint64_t>(kBlockIntervals);
  std::vector<uint32_t> infos = std::vector<uint32_t>(kBlockIntervals);
  std::vector<State> states = std::vector<State>(kBlockIntervals);
};

class BlockDecoder {
 public:
  BlockDecoder();
  ~BlockDecoder();
  BlockDecoder(const BlockDecoder&) = delete;
  BlockDecoder& operator=(const BlockDecoder&) = delete;

  // False: these bytes are no block of so many intervals that take so long.
  bool decode(std::span<const uint8_t> columns, uint32_t count, uint64_t duration,
              BlockColumns& into);

 private:
  struct Zstd;
  std::unique_ptr<Zstd> zstd_;
  std::vector<uint8_t> plain_;
};

// Walks over the groups of one level of a summary.
class SummaryWalk {
 public:
  SummaryWalk(std::span<const uint8_t> summary, uint32_t count, uint32_t level);

  // The next group's times. False: there is none, or no summary is here.
  bool next(TimesList& times);

 private:
  const uint8_t* at_;
  const uint8_t* end_;
  uint32_t left_ = 0;
};

}  // namespace strata::history
