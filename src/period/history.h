// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "period/table.h"

namespace strata::period {

// The tables of the last while, packed: to go back in time with. What exceeds its bounds goes from
// the old end; the newest table always stays.
class History {
 public:
  struct Bounds {
    Nanoseconds time{600'000'000'000};
    size_t bytes = size_t{64} << 20;
  };
  explicit History(Bounds bounds) : bounds_(bounds) {}

  const Bounds& bounds() const { return bounds_; }

  // `beside`: what somebody holds in memory to go with these tables, within the same bound.
  void add(const Table& table, size_t beside = 0);

  size_t size() const { return packed_.size(); }
  bool empty() const { return packed_.empty(); }
  // From the oldest on.
  Table at(size_t i) const;
  Nanoseconds begin_of(size_t i) const { return Nanoseconds{packed_[i].begin}; }
  Nanoseconds end_of(size_t i) const { return Nanoseconds{packed_[i].end}; }
  // The period that a time lies in; of none, the one before. Empty: it is older than all.
  std::optional<size_t> find(Nanoseconds time) const;
  // All tables from the first to the last, both included, as one; where none is missing between.
  Result<Table> sum(size_t first, size_t last) const;

  // What it holds in memory.
  size_t bytes() const { return bytes_; }
  // Tables that went for want of room, younger than the bound of time.
  uint64_t crowded_out() const { return crowded_out_; }

 private:
  struct Packed {
    int64_t begin = 0;
    int64_t end = 0;
    std::vector<uint8_t> bytes = {};
  };
  void drop_oldest();

  Bounds bounds_;
  std::deque<Packed> packed_;
  size_t bytes_ = 0;
  uint64_t crowded_out_ = 0;
};

}  // namespace strata::period
