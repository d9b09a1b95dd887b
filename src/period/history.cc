// SPDX-License-Identifier: Apache-2.0
#include "period/history.h"

#include <algorithm>

#include "period/pack.h"

namespace strata::period {

void History::add(const Table& table, size_t beside) {
  Packed packed{table.begin, table.end, pack(table)};
  bytes_ += sizeof(Packed) + packed.bytes.capacity();
  packed_.push_back(std::move(packed));
  const Int128 oldest = Int128{table.end} - bounds_.time.count;
  while (packed_.size() > 1 && packed_.front().end <= oldest) drop_oldest();
  while (packed_.size() > 1 && bytes_ + beside > bounds_.bytes) {
    ++crowded_out_;
    drop_oldest();
  }
}

void History::drop_oldest() {
  bytes_ -= sizeof(Packed) + packed_.front().bytes.capacity();
  packed_.pop_front();
}

Table History::at(size_t i) const { return unpack(packed_[i].bytes, packed_[i].begin); }

std::optional<size_t> History::find(Nanoseconds time) const {
  const auto behind = std::ranges::upper_bound(packed_, time.count, {}, &Packed::begin);
  if (behind == packed_.begin()) return std::nullopt;
  return static_cast<size_t>(behind - packed_.begin()) - 1;
}

Result<Table> History::sum(size_t first, size_t last) const {
  Table sum = at(first);
  for (size_t i = first + 1; i <= last; ++i)
    if (!sum.append(at(i))) return Error{{}, std::nullopt, "between the periods there is a gap"};
  return sum;
}

}  // namespace strata::period
