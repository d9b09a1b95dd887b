// SPDX-License-Identifier: Apache-2.0
#include "query/interval_walk.h"

#include <algorithm>

namespace strata::query {
namespace {

// Pieces become larger or smaller until about so many intervals are in each.
constexpr size_t kFew = 4096;
constexpr size_t kMany = 65536;
constexpr int64_t kFirstPieces = 64;

}  // namespace

IntervalWalk::IntervalWalk(history::History& history, history::Row row, int64_t begin, int64_t end)
    : history_(&history),
      row_(row),
      position_(std::max(begin, history.begin())),
      end_(std::min(end, history.end())),
      piece_(std::max<int64_t>(1, (end_ - position_) / kFirstPieces)) {}

Result<const history::Interval*> IntervalWalk::next() {
  while (next_ == intervals_.size()) {
    if (position_ >= end_) return static_cast<const history::Interval*>(nullptr);
    if (Status status = read_piece(); !status) return std::move(status).error();
  }
  return &intervals_[next_++];
}

Status IntervalWalk::read_piece() {
  intervals_.clear();
  next_ = 0;
  const int64_t until = end_ - position_ > piece_ ? position_ + piece_ : end_;
  Status status = history_->each(row_, position_, until, [&](const history::Interval& interval) {
    // What began in a piece before has come already.
    if (is_first_ || interval.begin >= position_) intervals_.push_back(interval);
  });
  is_first_ = false;
  position_ = until;
  if (intervals_.size() > kMany) piece_ = std::max<int64_t>(1, piece_ / 2);
  if (intervals_.size() < kFew && piece_ < end_) piece_ *= 2;
  return status;
}

}  // namespace strata::query
