// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "period/feed.h"
#include "period/history.h"
#include "top/roster.h"

namespace strata::top {

// Where in time the view is: a feed and the past of it that is kept. What happens while somebody
// looks at the past is taken in all the same.
class Timeline {
 public:
  Timeline(std::unique_ptr<period::Feed> feed, period::History::Bounds bounds)
      : feed_(std::move(feed)), history_(bounds) {}

  period::Feed& feed() { return *feed_; }
  const period::Feed& feed() const { return *feed_; }
  const period::History& history() const { return history_; }

  // Takes in the next table. False: there is no more, for now or for ever (has_ended).
  bool take();
  bool has_ended() const { return has_ended_; }
  // What could not be read, behind the last table.
  const std::optional<Error>& problem() const { return problem_; }
  // Tables taken in so far.
  uint64_t taken() const { return taken_; }

  bool empty() const { return history_.empty(); }
  size_t position() const { return position_; }
  bool is_newest() const { return history_.empty() || position_ + 1 == history_.size(); }
  // The table at the position, with rows for the tasks that did nothing.
  period::Table table() const;
  int64_t begin() const { return history_.begin_of(position_).count; }
  // As the feed gave it.
  period::Table raw_table() const { return history_.at(position_); }

  void to(size_t position) { position_ = position; }
  // Steps to the next table or the one before; false where there is none. Of a recording the next
  // is read, and what has gone from the history is read again.
  bool forward();
  bool back();
  void to_newest() { position_ = history_.empty() ? 0 : history_.size() - 1; }
  // The first of a recording; of a machine the oldest that is kept.
  void to_first();
  // Looking for something may take long: whoever wants it no more says so.
  using GivesUp = std::function<bool()>;
  // The end of a recording; of a machine the newest.
  void to_last(const GivesUp& gives_up);
  // The period that a time lies in. False: there is none.
  bool to_time(int64_t time, const GivesUp& gives_up);
  // The next period, or the one before, in which something is so; the view stays where it is when
  // there is none.
  using Holds = std::function<bool(const period::Table&)>;
  bool to_next(const Holds& holds, int step, const GivesUp& gives_up);

  // All that is kept, as lines that open again (period/json.h).
  Status save(const std::string& path) const;

 private:
  bool restart();
  // The table with this number from the beginning, as far as it can be had.
  void reach(uint64_t number);

  std::unique_ptr<period::Feed> feed_;
  period::History history_;
  Roster roster_;
  size_t position_ = 0;
  bool has_ended_ = false;
  std::optional<Error> problem_;
  uint64_t taken_ = 0;
  uint64_t dropped_ = 0;  // of these, those that the history keeps no more
};

}  // namespace strata::top
