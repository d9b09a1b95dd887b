// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "clock/corridor.h"
#include "trace/clock_map.h"

namespace strata::clock {

// A while over which the times of one machine lead straight to those of another.
struct Stretch {
  int64_t begin = 0;  // its first and last pair, by the time to be mapped
  int64_t end = 0;
  uint64_t pairs = 0;
  Line line = {};      // from the time to be mapped to that of the reference
  uint64_t bound = 0;  // how far off it may be between begin and end, in the reference's unit

  // What the line would give for 0, which may be far away.
  long double at_zero() const;
};

// Finds how the times of one trace lead to those of another, the reference, from pairs of events
// that belong together: one in each, of which the first caused the second. That is all that is
// believed of them: how long it took does not matter. The line is the one in the middle between the
// steepest and the flattest that make no effect come before its cause.
//
// Pairs come about in the order of time, since where no line fits any more a new stretch begins: no
// clock keeps its rate for ever, and one that was set is another one.
class CausalFit {
 public:
  // The event of the trace at `time` caused that of the reference at `reference`.
  void caused(int64_t time, int64_t reference);
  // It was caused by it.
  void caused_by(int64_t time, int64_t reference);

  uint64_t pairs() const { return pairs_; }

  // All stretches that have a line. An error where none has, which says why.
  Result<std::vector<Stretch>> finish();

 private:
  struct Open {
    Corridor corridor;  // x is the reference's time, y the one to be mapped
    uint64_t pairs = 0;
    int64_t begin = 0;
    int64_t end = 0;
    int64_t first = 0;  // as begin and end, by the reference's time
    int64_t last = 0;
  };
  void add(int64_t time, int64_t reference, bool is_above);
  // False: no line fits then.
  static bool take(Open& open, Point point, bool is_above);
  std::optional<Stretch> stretch_of(const Open& open) const;
  void close();

  bool has_origin_ = false;
  int64_t time_origin_ = 0;
  int64_t reference_origin_ = 0;
  uint64_t pairs_ = 0;
  uint64_t above_ = 0;
  Open open_;
  std::vector<Stretch> stretches_;
  uint64_t breaks_ = 0;
};

// Stretches as a map. What lies between two of them is on the line before, and a gap; before the
// first and behind the last the line goes on, without a bound.
trace::ClockMap map_of(const std::vector<Stretch>& stretches);

}  // namespace strata::clock
