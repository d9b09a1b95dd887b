// SPDX-License-Identifier: Apache-2.0
#include "top/timeline.h"

#include <algorithm>

#include "base/output.h"
#include "period/json.h"

namespace strata::top {

using period::Table;

bool Timeline::take() {
  if (has_ended_) return false;
  Result<std::optional<Table>> next = feed_->next();
  if (!next || !*next) {
    has_ended_ = true;
    if (!next) problem_ = next.error();
    return false;
  }
  const size_t before = history_.size();
  roster_.note(**next);
  history_.add(**next, roster_.bytes());
  ++taken_;
  const size_t dropped = before + 1 - history_.size();
  if (dropped > 0) {
    dropped_ += dropped;
    roster_.forget_before(history_.begin_of(0).count);
    position_ -= std::min(position_, dropped);
  }
  return true;
}

Table Timeline::table() const {
  Table table = history_.at(position_);
  roster_.complete(table);
  return table;
}

bool Timeline::forward() {
  if (is_newest() && (feed_->is_live() || !take())) return false;
  if (is_newest()) return false;
  ++position_;
  return true;
}

bool Timeline::restart() {
  const period::History::Bounds bounds = history_.bounds();
  if (!feed_->restart()) return false;
  history_ = period::History(bounds);
  roster_.clear();
  position_ = 0;
  has_ended_ = false;
  problem_.reset();
  taken_ = dropped_ = 0;
  return take();
}

bool Timeline::back() {
  if (position_ > 0) {
    --position_;
    return true;
  }
  if (feed_->is_live() || dropped_ == 0) return false;
  reach(dropped_ - 1);
  return true;
}

void Timeline::reach(uint64_t number) {
  if (number < dropped_ && (feed_->is_live() || !restart())) number = dropped_;
  position_ = std::min<size_t>(number - dropped_, history_.size() - 1);
  while (dropped_ + position_ < number && forward()) {
  }
}

void Timeline::to_first() {
  if (!feed_->is_live() && dropped_ > 0) restart();
  position_ = 0;
}

void Timeline::to_last(const GivesUp& gives_up) {
  to_newest();
  if (feed_->is_live()) return;
  while (!gives_up() && take()) to_newest();
}

bool Timeline::to_time(int64_t time, const GivesUp& gives_up) {
  if (history_.empty()) return false;
  if (time < history_.begin_of(0).count && !feed_->is_live() && dropped_ > 0 && !restart())
    return false;
  while (time >= history_.end_of(history_.size() - 1).count) {
    if (feed_->is_live() || gives_up() || !take()) break;
  }
  const size_t newest = history_.size() - 1;
  const std::optional<size_t> found = history_.find(Nanoseconds{time});
  const int64_t end = history_.end_of(newest).count;
  // At the very end of a recording the last event lies, and belongs to its last period.
  if (!found || time > end || (time == end && !has_ended_)) return false;
  position_ = *found;
  return true;
}

bool Timeline::to_next(const Holds& holds, int step, const GivesUp& gives_up) {
  const uint64_t number = dropped_ + position_;
  while (!gives_up() && (step > 0 ? forward() : back()))
    if (holds(table())) return true;
  reach(number);
  return false;
}

Status Timeline::save(const std::string& path) const {
  Result<Output> out = Output::create(path);
  if (!out) return std::move(out).error();
  for (size_t i = 0; i < history_.size(); ++i) {
    Table table = history_.at(i);
    // Tasks that did nothing while this was kept are in the first alone.
    if (i == 0) roster_.complete(table);
    period::put_json(table, out->text());
    if (!out->drain()) break;
  }
  return out->finish();
}

}  // namespace strata::top
