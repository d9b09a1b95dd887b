// SPDX-License-Identifier: Apache-2.0
#pragma once

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
//             kGroup x 4, then in every kGroup (times.h): what a view from further away needs. Not
//             compressed
//   columns   all durations (varints), all infos (varints), all states (bytes); zstd, with a
//             checksum
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

// Intervals on their way into a block: a growing row of bytes, since there are many rows, and most
// of them are quiet.
class OpenBlock {
 public:
  void add(uint64_t duration, State state, uint32_t info);
  uint32_t count() const { return count_; }
  bool is_full() const { return count_ == kBlockIntervals; }
  bool empty() const { return count_ == 0; }
  size_t memory() const { return bytes_.size(); }
  void clear() { used_ = count_ = 0; }
  // Its memory too.
  void release() { *this = OpenBlock(); }

 private:
  friend class BlockEncoder;
  std::vector<uint8_t> bytes_;  // for each: the state, the info and the duration as varints
  uint32_t used_ = 0;
  uint32_t count_ = 0;
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
  std::unique_ptr<Zstd> zstd_;
  std::vector<uint8_t> plain_;
  std::vector<uint8_t> infos_;
  std::vector<State> states_;
  std::vector<uint8_t> packed_;
  std::vector<uint8_t> summary_;
};

// A block's intervals without their times: durations, from which the times follow.
struct BlockColumns {
  std::vector<uint64_t> durations;
  std::vector<uint32_t> infos;
  std::vector<State> states;
};

class BlockDecoder {
 public:
  BlockDecoder();
  ~BlockDecoder();
  BlockDecoder(const BlockDecoder&) = delete;
  BlockDecoder& operator=(const BlockDecoder&) = delete;

  // False: these bytes are no block of so many intervals.
  bool decode(std::span<const uint8_t> columns, uint32_t count, BlockColumns& into);

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
