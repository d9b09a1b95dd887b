// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace strata {

// How times are said on the command line, the same everywhere, for a --help text.
extern const std::string_view kTimeHelp;

// What a time is said against.
struct TimeFrame {
  Nanoseconds begin;         // the first event's
  Nanoseconds end;           // the last one's
  bool since_epoch = false;  // whether times are nanoseconds since the epoch
  Nanoseconds now;           // since the epoch
};

// Which side of a period a time is for: a time in seconds as trace-cmd prints it is rounded, and
// stands for all instants that are printed so.
enum class Side : unsigned char { Begin, End };

//     +30s  +1m30s         after the first event
//     -10s                 before the last event
//     @14:30  @14:30:05.25 local time of day, on the trace's day
//     "@2026-11-15 14:30"  local date and time (a "T" may stand for the blank)
//     3m ago               before now
//     2084.021443          seconds, as trace-cmd prints them
//     2084021443000        nanoseconds
Result<Nanoseconds> resolve_time(std::string_view text, const TimeFrame& frame, Side side);

// "250us", "1.5s", "1h30m": a sum of numbers with the units ns us ms s m h d.
Result<Nanoseconds> parse_duration(std::string_view text);

// "1.5 s", "250 us": three or four digits, for people.
std::string duration_text(Nanoseconds duration);

// How times are shown.
enum class TimeStyle : unsigned char {
  Raw,       // as trace-cmd: seconds with microseconds, or the bare reading of a clock without time
  Relative,  // seconds since the first event, with nanoseconds
  Wall,      // local time of day, with nanoseconds
};

// "2084.021443": rounded to the microsecond, as trace-cmd does.
std::string raw_time_text(Nanoseconds time);

// Local times ($TZ), for many events one after another: what stays the same within a second is
// kept. A time is 18 characters ("14:30:05.123456789"), or 29 with its date.
class WallClock {
 public:
  explicit WallClock(bool with_date) : with_date_(with_date) {}

  // Writes at most 40 characters; gives the end.
  char* write(char* out, Nanoseconds since_epoch);
  std::string text(Nanoseconds since_epoch);

  // Whether times from `begin` to `end` need a date to be understood at `now`.
  static bool needs_date(Nanoseconds begin, Nanoseconds end, Nanoseconds now);

 private:
  bool with_date_;
  bool valid_ = false;
  int64_t second_ = 0;
  char kept_[24] = {};
  unsigned kept_size_ = 0;
};

// This machine's clock.
Nanoseconds now_since_epoch();

}  // namespace strata
