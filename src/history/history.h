// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "history/block.h"
#include "history/file.h"

namespace strata::history {

// A piece of a row as a view shows it: the state that weighs most there, and how much of the piece
// it holds, of 255. A share of 0: nothing is known there.
struct Pixel {
  State state = 0;
  uint8_t share = 0;

  bool operator==(const Pixel&) const = default;
};

// How interesting each state is: its time counts so many times. A state that is short but must not
// be overlooked weighs more.
struct Weights {
  std::array<float, kStates> of;
  Weights() { of.fill(1); }
};

// What rows were doing at every moment, from a file that a Writer has written. The file stays on
// the disk: a question costs what its answer is large, and what finding the place takes.
//
// What the file says is checked when it is opened and when it is read; an error means that it is to
// be made anew. Used by one thread.
class History {
 public:
  // `source`: what the history should have been made from.
  static Result<History> open(const std::string& path, uint64_t source);

  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  // Whether nothing more comes.
  bool is_complete() const { return is_complete_; }
  uint64_t intervals() const { return intervals_; }

  size_t rows() const { return rows_.size(); }
  const std::string& key(Row row) const { return rows_[row].key; }
  std::optional<Row> find(std::string_view key) const;

  // Nothing before the row's first interval, and from end() on.
  Result<std::optional<Interval>> at(Row row, int64_t time);
  // Those that have a part in the range, in order, whole.
  Status each(Row row, int64_t begin, int64_t end,
              const std::function<void(const Interval&)>& visit);
  // Exact.
  Result<StateTimes> times(Row row, int64_t begin, int64_t end);
  // The range in as many equal pieces as `pixels` has. What lies across the edge of two is divided
  // exactly where it is longer than one, else evenly.
  Status pixels(Row row, int64_t begin, int64_t end, const Weights& weights,
                std::span<Pixel> pixels);

 private:
  struct Block {
    uint64_t offset;
    int64_t begin;
    int64_t end;
    uint32_t count;
    uint32_t summary_size;
    uint32_t columns_size;
    uint32_t times_size;
    const uint8_t* times;  // in the file
  };
  struct RowBlocks {
    std::string key;
    std::vector<Block> blocks;         // in order, each begins where the one before ends
    std::vector<StateTimes> sums;      // of the blocks before each kSummed-th
    std::optional<OpenInterval> open;  // behind the blocks
  };
  // A block's intervals, kept for the next question.
  struct Decoded {
    uint64_t offset = UINT64_MAX;
    BlockColumns columns;
  };

  History(MappedFile file) : file_(std::make_unique<MappedFile>(std::move(file))) {}
  Status read_directories(uint64_t source);
  Status read_directory(const Footer& footer);
  bool add_block(const BlockEntry& entry, const uint8_t*& times, const uint8_t* end);
  void add_up();
  Error damaged() const;

  std::span<const uint8_t> bytes() const;
  // The first that ends behind this time.
  size_t find_block(const RowBlocks& row, int64_t time) const;
  TimesList times_of(const Block& block) const;
  const BlockColumns* decode(const Block& block);
  // The intervals of one block that have a part in the range.
  template <typename Visit>
  bool each_of(const Block& block, int64_t begin, int64_t end, Visit&& visit);
  std::optional<Interval> open_interval(const RowBlocks& row) const;

  std::unique_ptr<MappedFile> file_;
  std::unique_ptr<BlockDecoder> decoder_ = std::make_unique<BlockDecoder>();
  Decoded decoded_;
  std::vector<RowBlocks> rows_;
  std::unordered_map<std::string, Row> keys_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  uint64_t intervals_ = 0;
  bool is_complete_ = false;
};

}  // namespace strata::history
