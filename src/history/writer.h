// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "history/block.h"
#include "history/file.h"
#include "history/growing_file.h"

namespace strata::history {

// Writes the intervals of all rows into a file as they come, with bounded memory: a block is
// written when it is full, or when all that are open take more than so many bytes.
class Writer {
 public:
  static constexpr size_t kMostOpen = size_t{96} << 20;

  // `source` says what the history is made from; whoever opens it compares. A file that is there is
  // replaced.
  static Result<Writer> create(const std::string& path, uint64_t source,
                               size_t most_open = kMostOpen);
  Writer(Writer&&) noexcept = default;
  Writer& operator=(Writer&&) noexcept = default;

  // The row of this key, which is new or was given before.
  Row row(std::string_view key);

  // From `time` on the row is in this state. Nothing happens where it is in it already. A time
  // before the last one counts as that: rows do not go back.
  void set(Row row, int64_t time, State state, uint32_t info = 0) {
    OpenRow& open = rows_[row];
    if (open.state == state && open.info == info) return;
    if (time > open.begin) [[likely]] {
      end_interval(open, row, time);
    } else if (!open.is_begun()) {
      begin(open, time);
    }
    open.state = state;
    open.info = info;
  }

  // What the row is in now, it has been in since that began, after all: some things show only when
  // they end. Who has opened the file meanwhile saw what was known then.
  void correct(Row row, State state, uint32_t info) {
    rows_[row].state = state;
    rows_[row].info = info;
  }

  // To be called at the end, or from time to time while more comes: up to `time` all is known, and
  // who opens the file sees all of it, intervals that have not ended included.
  Status checkpoint(int64_t time);
  Status finish(int64_t time);

  // That have ended.
  uint64_t intervals() const;
  // What blocks that are not full yet take.
  size_t open_bytes() const { return open_bytes_; }

 private:
  static constexpr State kNotBegun = kStates;
  // One line of a cache: there are many, and each event finds some.
  struct alignas(64) OpenRow {
    int64_t begin = INT64_MAX;  // of the interval that has not ended
    int64_t block_begin = 0;
    uint32_t info = 0;
    State state = kNotBegun;
    OpenBlock block;

    bool is_begun() const { return state != kNotBegun; }
  };

  Writer(GrowingFile file, uint64_t source, size_t most_open);
  void begin(OpenRow& open, int64_t time);
  void end_interval(OpenRow& open, Row row, int64_t time) {
    if (!open.block.has_room()) [[unlikely]]
      make_room(open, row);
    const uint64_t duration = static_cast<uint64_t>(time) - static_cast<uint64_t>(open.begin);
    if (OpenBlock::is_odd(duration, open.info)) [[unlikely]]
      open_bytes_ += open.block.add_odd(duration, open.state, open.info);
    else
      open.block.add(duration, open.state, open.info);
    open.begin = time;
  }
  // Writes the block if it is full; else lets it grow.
  [[gnu::noinline]] void make_room(OpenRow& open, Row row);
  void write_block(OpenRow& open, Row row);
  void write_largest();
  void write_open_rows(int64_t time);
  void write_directory(FooterKind kind, const std::vector<OpenInterval>& intervals);

  GrowingFile file_;
  uint64_t source_;
  size_t most_open_;
  std::vector<OpenRow> rows_;
  std::unordered_map<std::string, Row> keys_;
  std::vector<const std::string*> new_keys_;  // since the last directory
  std::vector<BlockEntry> new_blocks_;
  std::vector<StateTimes> new_times_;  // of each
  std::unique_ptr<BlockEncoder> encoder_;
  uint64_t previous_footer_ = 0;
  size_t open_bytes_ = 0;
  uint64_t written_ = 0;  // intervals
  int64_t begin_ = INT64_MAX;
  int64_t end_ = INT64_MIN;
  bool is_complete_ = false;
};

}  // namespace strata::history
